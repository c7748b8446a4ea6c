"""SQL cells: what a Python kernel is given to run.

DuckDB runs them inside the kernel, so that data frames are tables by their names. What a
query gives is shown, and is a variable with the name of the cell: a pandas data frame, where
there is no pandas one of polars, else DuckDB's own relation. `$name` in a query is the value
of that variable: never put into the text, so no value can add a statement.
"""

from __future__ import annotations

import keyword
import re

from ..core.errors import BadInput

PACKAGE = "duckdb"
"""What SQL cells need in the interpreter of the notebook."""
_PYTHON = ("python", "ipython")
_NO_NAME = re.compile(r"\W")

# DuckDB looks for tables among the names of the function that calls it, then of the notebook: hence ours are odd.
# A relation is run when it is made: an error that came when it is shown would be none of the cell's.
# A sum of integers is wider than any integer of pandas, which would have it as a float: it is made narrower if it fits.
_RUN = """\
def _quire_sql(_quire_query, _quire_name):
    import duckdb as _quire_duckdb
    _quire_shown = None
    try:
        for _quire_each in _quire_duckdb.extract_statements(_quire_query):
            _quire_given = {n: globals()[n] for n in _quire_each.named_parameters if n in globals()}
            _quire_shown = _quire_duckdb.sql(_quire_each, params=_quire_given or None)
            if any(kind.name == 'NOTHING' for kind in _quire_each.expected_result_type):
                _quire_shown = None
        if _quire_shown is not None:
            _quire_shown = _quire_frame(_quire_shown)
    except Exception as error:
        said = [type(error).__name__ + ': ' + str(error)]
        error._render_traceback_ = lambda: said
        raise
    if _quire_name and _quire_shown is not None:
        globals()[_quire_name] = _quire_shown
    return _quire_shown

def _quire_frame(relation):
    from importlib.util import find_spec
    if find_spec('pandas'):
        return _quire_narrow(relation)
    if find_spec('polars') and find_spec('pyarrow'):
        return relation.pl()
    # Before DuckDB 2 it was called execute.
    return relation.materialize() if hasattr(relation, 'materialize') else relation.execute()

def _quire_narrow(relation):
    import duckdb
    wide = [name for name, kind in zip(relation.columns, relation.types) if str(kind) == 'HUGEINT']
    if not wide or len(set(relation.columns)) < len(relation.columns):
        return relation.df()
    quoted = ['"' + name.replace('"', '""') + '"' for name in wide]
    try:
        return relation.project('* REPLACE (' + ', '.join(n + '::BIGINT AS ' + n for n in quoted) + ')').df()
    except duckdb.ConversionException:
        return relation.df()
"""


def as_code(query: str, language: str, name: str | None = None) -> str:
    """Return code that runs a query with DuckDB in the kernel, and leaves what it gives under a name."""
    check_language(language, "a cell")
    # The call is the last expression, so that the kernel shows it.
    return f"exec({_RUN!r})\n_quire_sql({query!r}, {variable(name)!r})"


def variable(name: str | None) -> str | None:
    """The variable for the name of a cell: `by-city` is `by_city`."""
    made = _NO_NAME.sub("_", name or "")
    return made if made.isidentifier() and not keyword.iskeyword(made) else None


def check_language(language: str, what: str) -> None:
    """Refuse SQL in a kernel of another language than Python."""
    if language.lower() not in _PYTHON:
        raise BadInput(
            f"SQL runs in Python kernels; {what} is SQL and the kernel speaks {language}. Choose another: -k."
        )
