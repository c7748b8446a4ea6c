"""How a change is judged on its way into git."""
