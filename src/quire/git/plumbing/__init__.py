"""Branches, commits and checkouts, made without touching the files of the work tree."""
