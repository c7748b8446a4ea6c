"""What a home page shows: notebooks, runs, activity, search, comparison."""
