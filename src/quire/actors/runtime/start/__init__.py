"""Start and stop the runtimes of notebooks, within a limit."""
