"""Coding agents that are told about Quire: which there are, where their files are, and what is written into those."""
