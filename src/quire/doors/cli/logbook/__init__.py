"""`quire logbook`: templates, and their runs."""
