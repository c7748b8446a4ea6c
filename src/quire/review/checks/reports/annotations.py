"""Verdicts as forges show them beside the lines of a change.

GitHub's and Gitea's runners read lines on stdout; GitLab reads a file of its code quality format.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from ..verdict import CellVerdict, NotebookVerdict
from .text_report import difference_lines, traceback_lines

_MOST = 4000
"""Characters of a message: the rest is in the log of the job."""


def workflow_commands(verdicts: Sequence[NotebookVerdict], folder: Path) -> Iterator[str]:
    """Yield a line for each cell that failed. Paths are told from `folder`, the root of the repository."""
    for verdict in verdicts:
        path = path_from(verdict.path, folder)
        for fault in verdict.faults:
            yield f"::error file={_property(path)},line=1::{_data(fault)}"
        for cell in verdict.failed:
            title = _property(f"{path}: {cell.name}")
            yield f"::error file={_property(path)},line={cell.line},title={title}::{_data(message_of(cell))}"


def code_quality(verdicts: Sequence[NotebookVerdict], folder: Path) -> str:
    """Return GitLab's report: a JSON list with a fingerprint for each finding, by which it tells old ones from new."""
    found: list[dict[str, object]] = []
    for verdict in verdicts:
        path = path_from(verdict.path, folder)
        found += [_finding(path, 1, "notebook", fault) for fault in verdict.faults]
        found += [_finding(path, cell.line, cell.name, message_of(cell)) for cell in verdict.failed]
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def _finding(path: str, line: int, name: str, message: str) -> dict[str, object]:
    said = f"{name}: {message}"
    return {
        "description": said.partition("\n")[0],
        "content": {"body": said},
        "check_name": "quire-check",
        "fingerprint": sha256(f"{path}\0{name}\0{message}".encode("utf-8", "replace")).hexdigest(),
        "severity": "major",
        "location": {"path": path, "lines": {"begin": line}},
    }


def message_of(cell: CellVerdict) -> str:
    """Return why a cell failed, as a text of several lines."""
    lines = [cell.fault, *(line for each in cell.differences for line in difference_lines(each))]
    text = "\n".join([*lines, *traceback_lines(cell.traceback)])
    return text if len(text) <= _MOST else text[: _MOST - 1] + "…"


def path_from(path: str, folder: Path) -> str:
    """Return a path as it is told from a folder, with slashes."""
    absolute = Path(path).absolute()
    return absolute.relative_to(folder).as_posix() if absolute.is_relative_to(folder) else Path(path).as_posix()


def _data(text: str) -> str:
    # One line, and nothing in it that the runner would take for a command of its own.
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
