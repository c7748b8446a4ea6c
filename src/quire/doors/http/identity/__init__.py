"""Routes on tokens, roles, sign-in, sharing and pauses."""
