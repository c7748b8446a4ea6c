"""How each notebook of the corpus is made."""
