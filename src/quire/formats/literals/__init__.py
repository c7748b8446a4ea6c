"""Parameter values as source code, one module per language."""
