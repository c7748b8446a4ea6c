"""Render the difference of two notebooks: terminal text, HTML, values, nbdime's operations."""
