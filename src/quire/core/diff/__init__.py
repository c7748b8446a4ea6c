"""Compare, merge and patch notebooks, by cell and by line."""
