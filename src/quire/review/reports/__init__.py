"""Executed notebooks, published where people read them."""
