"""Logs in PostgreSQL."""
