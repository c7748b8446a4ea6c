"""Checks that execute nothing: what reading a notebook tells."""
