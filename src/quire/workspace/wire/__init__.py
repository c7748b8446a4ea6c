"""Bodies and frames that travel between a server and its clients."""
