"""Quire: notebooks that people, LLM agents and machines share."""

__version__ = "0.1.0.dev0"
