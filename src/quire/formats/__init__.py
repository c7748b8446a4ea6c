"""How a notebook looks as TEXT: text in, text out. No disk, no network."""
