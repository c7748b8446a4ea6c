"""What verbs answer: text for agents, facts for programs."""
