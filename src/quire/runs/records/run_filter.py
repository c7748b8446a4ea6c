"""Which runs, in which order: read from words such as `result.accuracy > 0.9`, written as SQL over the views of the index.

Nothing of what a caller wrote gets into a query but as a quoted literal, and no name of a column comes from outside.
A condition compares numbers with numbers, and texts and dates with texts; a run that has no such value does not meet it.
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import json
import re
from collections.abc import Collection, Iterator
from typing import Any, Literal, TypeAlias, cast

import msgspec

from ...core.column_values import MOST_TEXT, as_double, sortable
from ...core.errors import BadInput
from ...core.ids import ActorId, LogId
from .run_records import STATUSES

ValueKind: TypeAlias = Literal["parameter", "result"]
Operator: TypeAlias = Literal["=", "!=", "<", "<=", ">", ">=", "~", "is set", "is missing"]
FIELDS = {"at": "r.requested_at", "name": "r.name", "status": "r.status", "who": "r.actor"}
"""What else runs are sorted by, as text; `seconds` is a number."""

_KEY = r'(?P<kind>param|parameter|result)\.(?P<name>"(?:[^"\\]|\\.)*"|[^\s=!<>~"]+)'
_CONDITION = re.compile(
    rf"\s*{_KEY}\s*(?P<operator>!=|<=|>=|=|<|>|~|is\s+set\b|is\s+missing\b)\s*(?P<operand>.*)", re.DOTALL
)
_COLUMN = re.compile(_KEY)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_INTEGER = re.compile(r"[+-]?\d+")
_SAFE_INTEGER = 2**53
_WORDS = 20


class ValueColumn(msgspec.Struct, frozen=True):
    """A parameter or a result, by its name."""

    kind: ValueKind
    name: str


class Condition(msgspec.Struct, frozen=True):
    """What a value has to be."""

    column: ValueColumn
    operator: Operator
    operand: str
    is_quoted: bool = False
    """Whether it was written as a text: `"5"` is no number."""


class RunFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which runs: those that meet all of it."""

    status: tuple[str, ...] = ()
    notebook: LogId | None = None
    file: str | None = None
    """The file that `notebook` is bound to: its runs belong with it."""
    source: str | None = None
    """The path of a file that was run."""
    who: tuple[ActorId, ...] = ()
    """Who asked for them, or for whom."""
    since: str | None = None
    until: str | None = None
    text: str = ""
    """Words, all of which stand in a name, a path, an actor, an error or a value."""
    where: tuple[Condition, ...] = ()


class RunOrder(msgspec.Struct, frozen=True):
    """What runs are sorted by. Those without a value come last, in both directions."""

    by: str | ValueColumn = "at"
    descending: bool = True


class Position(msgspec.Struct, frozen=True, array_like=True):
    """Where a page ends: the next one begins behind it."""

    rank: int
    number: float
    text: str
    run: str


# ---- Words


def read_condition(text: str) -> Condition:
    """Read `result.accuracy > 0.9`, `param.month = 2026-10`, `result."a b" ~ word` or `param.top is missing`."""
    found = _CONDITION.fullmatch(text)
    if found is None:
        raise BadInput(
            f"Condition {text[:200]!r} cannot be read. Write param.NAME or result.NAME, one of = != < <= > >= ~ and a value,"
            " such as result.accuracy > 0.9; or `is set`, `is missing`."
        )
    operator = cast("Operator", " ".join(found["operator"].split()))
    operand, is_quoted = _operand(text, found["operand"].strip())
    if operator.startswith("is ") == bool(operand or is_quoted):
        told = "takes no value" if operator.startswith("is ") else "needs a value"
        raise BadInput(f"Condition {text[:200]!r}: `{operator}` {told}.")
    return Condition(_column(text, found), operator, operand, is_quoted)


def read_order(text: str) -> RunOrder:
    """Read `-at`, `seconds`, `-result.accuracy`: with a minus, the largest first."""
    descending, by = text.startswith("-"), text.removeprefix("-")
    if by in FIELDS or by == "seconds":
        return RunOrder(by, descending)
    found = _COLUMN.fullmatch(by)
    if found is None:
        named = ", ".join([*FIELDS, "seconds"])
        raise BadInput(f"Runs cannot be sorted by {by[:200]!r}. Sort by {named}, param.NAME or result.NAME.")
    return RunOrder(_column(by, found), descending)


def _column(text: str, found: re.Match[str]) -> ValueColumn:
    name = found["name"]
    kind: ValueKind = "result" if found["kind"] == "result" else "parameter"
    return ValueColumn(kind, _unquoted(text, name) if name.startswith('"') else name)


def _operand(text: str, written: str) -> tuple[str, bool]:
    if len(written) > 1 and written[0] == written[-1] == '"':
        return _unquoted(text, written), True
    return written, False


def _unquoted(text: str, written: str) -> str:
    try:
        return cast("str", json.loads(written))
    except ValueError as error:
        raise BadInput(f"Condition {text[:200]!r}: {written[:200]} is no text in quotes, as JSON has it.") from error


# ---- Pages


def write_position(position: Position) -> str:
    """Write a place for an address."""
    return base64.urlsafe_b64encode(msgspec.json.encode(position)).decode().rstrip("=")


def read_position(text: str) -> Position:
    """Read what `write_position` wrote."""
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        return msgspec.json.decode(data, type=Position)
    except (binascii.Error, msgspec.DecodeError, ValueError) as error:
        raise BadInput("`after` is not the end of a page. Leave it out to begin at the first.") from error


# ---- SQL


def literal(text: str) -> str:
    """Write a text as a literal of SQL. The index has the picture of a NUL where a text has one."""
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise BadInput(f"{text[:200]!r} cannot be looked for: it holds half a surrogate pair.")
    return "'" + text.replace("\0", "\N{SYMBOL FOR NULL}").replace("'", "''") + "'"


def among(column: str, texts: Collection[str]) -> str:
    """Write that a column holds one of these."""
    return f"{column} IN ({', '.join(map(literal, texts))})" if texts else "1 = 0"


def page_sql(wanted: RunFilter, order: RunOrder, limit: int, *, hidden: str = "", after: Position | None = None) -> str:
    """Return the question for a page: run, rank, number, text; then how many there are in all, and when the newest began.

    The last two are asked for the first page only: counting takes as long as all of the rest.
    """
    down = "DESC" if order.descending else "ASC"
    columns, join = _sort_columns(order)
    counted = "" if after else ", count(*) OVER () AS total, max(requested_at) OVER () AS newest"
    behind = f"WHERE {_behind(after, '<' if order.descending else '>')}" if after else ""
    return (  # what is not ours is quoted
        f"SELECT run, sort_rank, sort_number, sort_text{counted} FROM"  # noqa: S608
        f" (SELECT r.run, r.requested_at, {columns} FROM runs r {join} WHERE {' AND '.join(_clauses(wanted, hidden))}) AS found"
        f" {behind} ORDER BY sort_rank, sort_number {down}, sort_text {down}, run {down} LIMIT {limit + 1:d}"
    )


def count_sql(wanted: RunFilter, seen: str, *, hidden: str = "") -> str:
    """Return the question how many runs there are, and how many of them began after `seen`."""
    newer = f"sum(CASE WHEN r.requested_at > {literal(seen)} THEN 1 ELSE 0 END)"
    return f"SELECT count(*), coalesce({newer}, 0) FROM runs r WHERE {' AND '.join(_clauses(wanted, hidden))}"  # noqa: S608 - quoted


def scope_sql(wanted: RunFilter, *, hidden: str = "") -> str:
    """Return what limits runs to those that a table may be about, whatever is filtered in it."""
    scope = RunFilter(notebook=wanted.notebook, file=wanted.file, source=wanted.source)
    return " AND ".join(_clauses(scope, hidden))


def _sort_columns(order: RunOrder) -> tuple[str, str]:
    """What to sort by, as a rank of types, a number and a text; and the join that has it."""
    if order.by == "seconds":
        rank = "CASE WHEN r.seconds IS NULL THEN 5 ELSE 0 END"
        return f"{rank} AS sort_rank, coalesce(r.seconds, 0.0) AS sort_number, '' AS sort_text", ""
    if isinstance(order.by, str):
        return f"0 AS sort_rank, 0.0 AS sort_number, {FIELDS[order.by]} AS sort_text", ""
    rank = (
        "CASE WHEN s.type IS NULL THEN 5 WHEN s.number IS NOT NULL THEN 0 WHEN s.type IN ('date', 'text') THEN 1"
        " WHEN s.type = 'other' THEN 2 WHEN s.type = 'number' THEN 3 ELSE 4 END"
    )
    columns = f"{rank} AS sort_rank, coalesce(s.number, 0.0) AS sort_number, coalesce(s.text, '') AS sort_text"
    return columns, f"LEFT JOIN run_values s ON s.log = r.run AND {_is_column('s', order.by)}"


def _behind(after: Position, sign: str) -> str:
    rank, number, text, run = f"{after.rank:d}", repr(float(after.number)), literal(after.text), literal(after.run)
    if not _NUMBER.fullmatch(number):
        raise BadInput("`after` is not the end of a page. Leave it out to begin at the first.")
    return (
        f"(sort_rank > {rank} OR (sort_rank = {rank} AND (sort_number {sign} {number} OR (sort_number = {number} AND"
        f" (sort_text {sign} {text} OR (sort_text = {text} AND run {sign} {run}))))))"
    )


def _clauses(wanted: RunFilter, hidden: str) -> Iterator[str]:
    yield hidden or "1 = 1"
    if wanted.status:
        yield among("r.status", [name for each in wanted.status for name in _statuses(each)])
    if wanted.notebook is not None:
        yield f"({_of_notebook(wanted.notebook, wanted.file)})"
    if wanted.source is not None:
        yield f"r.path = {literal(wanted.source)}"
    if wanted.who:
        yield f"({among('r.actor', wanted.who)} OR {among('r.on_behalf_of', wanted.who)})"
    if wanted.since is not None:
        yield f"r.requested_at >= {literal(wanted.since)}"
    if wanted.until is not None:
        yield f"r.requested_at < {literal(wanted.until)}"
    for word in wanted.text.split()[:_WORDS]:
        yield f"({_anywhere(word)})"
    for condition in wanted.where:
        yield _meets(condition)


def _statuses(status: str) -> tuple[str, ...]:
    if status not in STATUSES:
        raise BadInput(f"No run has the status {status[:100]!r}. There are {', '.join(STATUSES)}.")
    return ("claimed", "running") if status == "running" else (status,)


def _of_notebook(notebook: LogId, file: str | None) -> str:
    own = f"r.notebook = {literal(notebook)}"
    if file is None:
        return own
    path = literal(file)  # what was run may be relative to another folder, or absolute
    return f"{own} OR r.path = {path} OR substr(r.path, length(r.path) - length({path})) = '/' || {path}"


def _anywhere(word: str) -> str:
    pattern = _contains(word)
    texts = ("r.name", "r.path", "r.actor", "r.on_behalf_of", "r.ename", "r.evalue", "r.run")
    joined = " || ' ' || ".join(f"coalesce({column}, '')" for column in texts)
    # Not EXISTS: one pass over all values is quicker than a look for each run.
    valued = f"r.run IN (SELECT v.log FROM run_values v WHERE lower(v.text) {pattern})"  # noqa: S608 - quoted
    return f"lower({joined}) {pattern} OR {valued}"


def _contains(text: str) -> str:
    escaped = text.lower().replace("!", "!!").replace("%", "!%").replace("_", "!_")
    return f"LIKE {literal(f'%{escaped}%')} ESCAPE '!'"


def _meets(condition: Condition) -> str:
    operator, column = condition.operator, condition.column
    what = "1 = 1" if operator.startswith("is ") else _compared(condition)
    exists = f"EXISTS (SELECT 1 FROM run_values v WHERE v.log = r.run AND {_is_column('v', column)} AND ({what}))"  # noqa: S608 - quoted
    return f"NOT {exists}" if operator == "is missing" else exists


def _is_column(alias: str, column: ValueColumn) -> str:
    return f"{alias}.kind = {literal(column.kind)} AND {alias}.name = {literal(column.name)}"


def _compared(condition: Condition) -> str:
    operator = condition.operator
    if operator == "~":
        return f"lower(v.text) {_contains(condition.operand)}"
    if operator == "=":
        return _equals(condition)
    if operator == "!=":
        return f"NOT coalesce({_equals(condition)}, 1 = 0)"
    number = None if condition.is_quoted else _number(condition.operand)
    if number is not None:
        return f"v.number {operator} {number}"
    text, date = literal(condition.operand[:MOST_TEXT]), literal(_date(condition.operand))
    return f"(v.type = 'text' AND v.text {operator} {text}) OR (v.type = 'date' AND v.text {operator} {date})"


def _equals(condition: Condition) -> str:
    """Write that a value is the operand, as whatever it can be read."""
    operand = condition.operand
    as_text = f"(v.type = 'text' AND v.text = {literal(operand[:MOST_TEXT])})"
    if condition.is_quoted:
        return as_text
    known = {
        "true": "(v.type = 'boolean' AND v.number = 1)",
        "false": "(v.type = 'boolean' AND v.number = 0)",
        "null": "(v.type = 'none')",
        "none": "(v.type = 'none')",
        "nan": "(v.type = 'number' AND v.number IS NULL)",
    }.get(operand.lower())
    if known is not None:
        return f"({known} OR {as_text})"
    if _INTEGER.fullmatch(operand) and abs(int(operand[:MOST_TEXT])) > _SAFE_INTEGER:  # two of these may be one double
        return f"((v.type = 'number' AND v.text = {literal(str(int(operand[:MOST_TEXT])))}) OR {as_text})"
    number = _number(operand)
    if number is not None:
        return f"((v.number = {number} AND v.type <> 'boolean') OR {as_text})"
    date = _date(operand)
    day = f" OR v.text {_begins(date)}" if len(date) == len("2026-01-31") else ""
    return f"({as_text} OR (v.type = 'date' AND (v.text = {literal(date)}{day})))"


def _begins(date: str) -> str:
    return f"LIKE {literal(f'{date}T%'.replace('_', '!_'))} ESCAPE '!'"


def _number(text: str) -> str | None:
    if not _NUMBER.fullmatch(text):
        return None
    double: Any = as_double(int(text[:MOST_TEXT]) if _INTEGER.fullmatch(text) else float(text))
    return repr(double)


def _date(text: str) -> str:
    """A moment as the index has it; another text as it is."""
    try:
        return sortable(dt.datetime.fromisoformat(text)) if "T" in text or ":" in text else text
    except ValueError:
        return text
