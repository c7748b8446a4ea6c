"""Kernels: start them, find them again, talk to them. No log, no notebook."""
