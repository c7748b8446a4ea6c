"""Render a notebook as compact text within a budget of tokens."""
