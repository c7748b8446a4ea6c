"""What agents do with logbooks, beside what they do with any notebook."""
