"""What was changed in a run, proposed to its source."""
