"""The command line. `main` finds the verb; one module for each, imported only when it is used."""

EXIT_STATUS = """Exit status: 0 fine, 1 a check found a fault, 2 wrong usage, bad input or not found,
3 refused or somebody was first, 4 unavailable, 130 interrupted."""
