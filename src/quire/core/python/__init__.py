"""Python source read from its syntax tree: names, faults, literal values."""
