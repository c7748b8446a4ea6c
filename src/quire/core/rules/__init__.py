"""What may happen: `acceptance` checks each event before it enters a log, with the rules of its kind."""
