"""Logs in one SQLite file."""
