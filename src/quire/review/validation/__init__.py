"""A change tried out: its notebooks run before and after, and what came of both."""
