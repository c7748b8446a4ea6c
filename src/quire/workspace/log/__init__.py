"""One log: its state, appends, leases, locks, and which log a name means."""
