"""Parameters: declarations, types, and values bound to them."""
