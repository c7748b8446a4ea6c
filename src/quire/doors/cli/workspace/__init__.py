"""Verbs on a workspace: its store, its tokens, its health."""
