"""Changes of notebooks as pull requests: what is proposed, by which branch, and what a person reads of it."""
