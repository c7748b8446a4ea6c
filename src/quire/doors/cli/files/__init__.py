"""Verbs on notebook files."""
