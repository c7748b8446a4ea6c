"""How OTHERS come in: decode, name the actor, call the workspace, encode. No logic of their own."""
