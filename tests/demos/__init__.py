"""The demos: stories that are tests, and that `make demo` records as films and pictures for docs/demos."""
