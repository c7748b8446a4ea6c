"""The actor that runs cells in a kernel."""
