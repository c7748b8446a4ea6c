"""A workspace behind a server."""
