"""The server's process: uvicorn, middleware, logs, limits, ports."""
