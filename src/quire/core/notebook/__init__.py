"""A notebook as a fold of its log: state, reducer, outputs, staleness, comments, activity."""
