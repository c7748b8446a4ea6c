"""Large bytes, kept by their hash: in memory, in a folder, in object storage."""
