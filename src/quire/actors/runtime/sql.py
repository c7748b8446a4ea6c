"""SQL cells: what a Python kernel is given to run."""

from __future__ import annotations

from ...core.errors import BadInput


def as_code(query: str, language: str) -> str:
    """Return code that runs a query with DuckDB in the kernel; names of data frames are tables."""
    if language not in ("python", "ipython"):
        raise BadInput(f"SQL cells run in Python notebooks; this one is written in {language}.")
    # The last expression of the cell, so that the kernel shows it.
    return f"import duckdb as _quire_duckdb\n_quire_duckdb.sql({query!r})"
