"""What connections follow, and the fan-out of logs and the feed to them."""
