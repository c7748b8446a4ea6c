"""Recorded runs: list, filter, compare, and their results as rows."""
