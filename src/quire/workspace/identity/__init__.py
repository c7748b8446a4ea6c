"""Who acts and what they may do: identities, permissions, tokens, sign-in, invitations, pauses."""
