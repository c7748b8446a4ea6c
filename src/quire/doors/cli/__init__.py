"""The command line. `main` finds the verb; one module for each, imported only when it is used."""
