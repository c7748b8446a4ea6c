"""Notebooks as tests of pytest: a test for each cell.

pytest loads `options` whenever it starts where Quire is installed, so that module imports nothing; `items` is loaded
when somebody asks for notebooks.
"""
