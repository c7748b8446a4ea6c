"""Verbs that serve, open or attach to a workspace."""
