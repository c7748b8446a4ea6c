"""Verbs on runs."""
