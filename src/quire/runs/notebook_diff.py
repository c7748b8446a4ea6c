"""`quire.diff` and `quire.patch`: two notebooks compared, and one changed, by plain values.

A notebook is a path of any format, or a NotebookNode. The operations are those of `quire diff --json`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ..core.diff.diff import decode, encode
from ..core.diff.diff import diff as compare
from ..core.diff.patch import patch as patched
from ..core.errors import BadInput
from ..core.values import Json
from ..disk import read_text
from ..formats import registry
from ..formats.diff_view.nbdime import notebook_json, to_nbdime
from ..git.revisions import FileRevision, read_both
from .api import Place, as_node, text_of

if TYPE_CHECKING:
    from nbformat import NotebookNode

NotebookInput: TypeAlias = Place | Mapping[str, Any]
_AS_IPYNB = "notebook.ipynb"


class NbdimeEntry(dict[str, Json]):
    """An operation of nbdime, whose `patch` reads the fields as attributes."""

    def __getattr__(self, name: str) -> Json:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def diff(a: NotebookInput, b: NotebookInput, *, nbdime: bool = False) -> list[dict[str, Json]]:
    """Return the operations that turn notebook `a` into `b`, as `quire diff --json` prints them.

    With `nbdime`, they are in the form that `nbdime.patch(a, operations)` takes.
    """
    old, new = _revision(a), _revision(b)
    if not nbdime:
        return json.loads(encode(compare(*read_both(old, new)).operations))
    sides = [notebook_json(side.sheet, side.text, side.path) for side in (old, new)]
    operations = to_nbdime(sides[0], sides[1], compare(old.sheet, new.sheet).alignment)
    return [_entry(operation) for operation in operations]


def patch(notebook: NotebookInput, operations: Iterable[Mapping[str, Json]]) -> NotebookNode:
    """Return `notebook` with the operations of `diff` applied: all of them, or Conflict.

    Nothing is written; `NotebookExecutor.write_notebook` does that.
    """
    revision = _revision(notebook)
    try:
        text = json.dumps([dict(operation) for operation in operations])
    except (TypeError, ValueError):
        raise BadInput("The operations are not JSON. Pass the list that `quire.diff` returns.") from None
    return as_node(registry.write(patched(revision.sheet, decode(text, "the list of operations")), _AS_IPYNB))


def _revision(notebook: NotebookInput) -> FileRevision:
    if isinstance(notebook, Mapping):
        return FileRevision(label="the notebook", path=_AS_IPYNB, text=text_of(notebook))
    name = os.fspath(notebook)
    return FileRevision(label=name, path=name, text=read_text(Path(name)))


def _entry(operation: dict[str, Json]) -> NbdimeEntry:
    """The operation with those inside it; what it adds or replaces stays plain."""
    entry = NbdimeEntry(operation)
    if entry["op"] == "patch":
        entry["diff"] = [_entry(inner) for inner in entry["diff"]]
    return entry
