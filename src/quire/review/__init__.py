"""What a change of notebooks has to pass before it is merged."""
