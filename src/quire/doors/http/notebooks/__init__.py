"""Routes on notebooks."""
