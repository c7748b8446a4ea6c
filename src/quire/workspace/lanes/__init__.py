"""Ephemeral messages: presence, prompts, and the state of runtimes."""
