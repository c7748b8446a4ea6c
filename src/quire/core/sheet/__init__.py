"""A notebook without its history, and its conversion from and to a log."""
