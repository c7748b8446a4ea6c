"""Reviews: opening one, what its page shows, and answering it."""
