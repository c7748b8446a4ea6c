"""Routes on logs and blobs, and on the server's health."""
