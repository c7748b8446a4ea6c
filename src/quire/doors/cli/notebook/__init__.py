"""Verbs on one notebook."""
