"""The WebSocket at `/api/socket`."""
