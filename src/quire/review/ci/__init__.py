"""Workflows for the CI of forges."""
