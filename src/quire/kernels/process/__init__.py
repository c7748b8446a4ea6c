"""A kernel's process on this machine: start, watch, end, adopt."""
