"""What a notebook IS: values and pure functions. No clock, no I/O, no ids made up here."""
