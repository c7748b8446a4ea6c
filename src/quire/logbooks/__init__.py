"""Logbooks: templates in Markdown that are run, by themselves or step by step, and the file that each run leaves."""
