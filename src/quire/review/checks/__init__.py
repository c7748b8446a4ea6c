"""Checks of notebooks: whether cells still show what is stored, and what reading alone tells of them.

`check` runs one notebook or many, `plan` decides what of a notebook is checked, `execute` runs its cells,
`compare` says what differs. `static/` executes nothing. `reports/` is how verdicts are told.
"""
