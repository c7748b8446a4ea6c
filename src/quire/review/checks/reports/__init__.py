"""How verdicts are told: on a terminal, to JUnit's readers, and to forges."""
