"""Schedules: how they are added and looked at, how their runs are begun, and what becomes of those."""
