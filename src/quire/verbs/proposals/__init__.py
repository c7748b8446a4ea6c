"""Changes that ask for a yes: of a person in the notebook, or in a pull request."""
