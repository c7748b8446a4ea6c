"""Schedules, for pages and programs."""
