"""A recorded run, run once more and compared with its record."""
