"""Running a notebook file: papermill's job, the same for the command line and for Python.

`wish` decides everything before the first cell runs, `run` runs it, `output` keeps the file
current that it leaves.
"""
