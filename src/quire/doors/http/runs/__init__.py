"""Routes on runs and runtimes."""
