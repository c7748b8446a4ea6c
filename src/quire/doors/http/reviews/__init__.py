"""Routes of reviews."""
