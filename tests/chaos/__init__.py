"""Everything is broken at random, under load, for minutes: what is promised then holds (docs/explanation/guarantees.md)."""
