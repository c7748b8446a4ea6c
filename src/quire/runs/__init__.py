"""Running a notebook file: papermill's job, the same for the command line and for Python.

`request` decides everything before the first cell runs, `run_file` runs it, `output_file` keeps the file
current that it leaves.
"""
