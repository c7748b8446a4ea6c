"""What a kernel sends while a cell runs, as events: displays, streams, widgets, results, without secrets."""
