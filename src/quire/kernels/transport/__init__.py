"""Jupyter's messages over ZeroMQ."""
