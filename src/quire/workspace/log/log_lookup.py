"""Which log somebody means: by its name, or by the beginning of its id."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...core.errors import BadInput, NotFound
from ...core.ids import nearest
from ...stores.store import LogInfo


def pick(name: str, logs: Sequence[LogInfo]) -> LogInfo:
    """The one of `logs` that has this id or name, or whose id begins so. Runs have the name of their notebook: it comes first."""
    ways = (
        [each for each in logs if each.log == name],
        [each for each in logs if each.name == name and each.kind == "notebook"],
        [each for each in logs if each.name == name],
        [each for each in logs if name and each.log.startswith(name)],
    )
    matching = next((way for way in ways if way), ())
    if not matching:
        raise NotFound(f"There is no notebook or run {name!r}.{similar(name, logs)}")
    if len(matching) > 1:
        shown = ", ".join(f"{each.log} ({each.name})" for each in matching[:5])
        raise BadInput(f"{name!r} names {len(matching)} logs: {shown}. Use the id.")
    return matching[0]


def similar(name: str, logs: Iterable[LogInfo]) -> str:
    """What somebody may have meant, or where to look for it: the end of a message."""
    close = nearest(name, dict.fromkeys(text for each in logs for text in (each.name, each.log)))
    return f" Nearest: {', '.join(close)}." if close else " `quire sql 'select * from notebooks'` lists them."
