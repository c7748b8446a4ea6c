"""Batches of edits: plan them as events, and undo those of one actor."""
