"""Render a notebook as one self-contained, safe page of HTML."""
