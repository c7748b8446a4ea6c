"""Schedules: notebooks that run by the clock."""
