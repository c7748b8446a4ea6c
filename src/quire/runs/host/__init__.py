"""Processes that serve a live notebook, and what they start with."""
