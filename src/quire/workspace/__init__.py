"""The only way IN: whoever reads or changes anything does it through a workspace."""
