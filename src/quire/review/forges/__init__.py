"""Forges by their APIs: one protocol, a thin client for each, one HTTP layer below them."""
