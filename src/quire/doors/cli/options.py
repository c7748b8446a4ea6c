"""Options that verbs share."""

from __future__ import annotations

import click

NUMBER = click.IntRange(0, 2**53)
"""The number of an event, or a count."""
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON value on stdout, for programs.")
