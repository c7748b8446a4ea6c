"""Whether a log is what was recorded, and whether what is derived from it is true."""

from __future__ import annotations

import contextlib

from msgspec.structs import replace

from ..core import codec
from ..core.chain import Flaw, Head, Verifier
from ..core.errors import QuireError, Unavailable
from ..core.ids import WORKSPACE_LOG, LogId
from ..core.notebook.reduce import REDUCER, Fold
from ..stores.store import LogInfo, Store
from .protocol import LogVerification

WALKS = 3
"""So often a log is walked in which somebody masks something meanwhile."""


async def verify_log(store: Store, info: LogInfo, imported: int = 0) -> LogVerification:
    """Walk the chain of a log, of which so many came from elsewhere; if that holds, compare what is derived from it.

    Others may write meanwhile: what they add is walked as well.
    """
    head, flaw = await _walk(store, info, imported)
    for _ in range(WALKS - 1):
        now = await store.info(info.log) or info
        if flaw is None or now.head == info.head:
            break
        # What was read before somebody masked it is not what their redaction tells of: look again.
        info = now
        head, flaw = await _walk(store, info, imported)
    flaw = flaw or await _check_snapshot(store, info)
    if flaw is None:
        with contextlib.suppress(Unavailable):  # what cannot be folded has nothing derived from it to compare
            flaw = await _check_line(store, info) or await _check_index(store, info)
    return LogVerification(log=info.log, kind=info.kind, name=info.name, head=head, flaw=flaw)


async def _walk(store: Store, info: LogInfo, imported: int) -> tuple[Head, Flaw | None]:
    """Every record, up to the head as it is at the end of the walk."""
    head, since = info.head, 0
    verifier = Verifier(info.log, head, imported)
    while records := await store.read(info.log, since):
        since = records[-1].seq
        if since > head.seq:
            # Records and head are committed together, so the head of now knows them; or they were never recorded.
            now = await store.info(info.log)
            head = now.head if now is not None else head
            verifier.grow(head)
        for record in records:
            verifier.add(record)
    return head, verifier.finish()


async def _check_snapshot(store: Store, info: LogInfo) -> Flaw | None:
    """A forged snapshot would show everybody a notebook that the log does not tell of."""
    found = await store.snapshot(info.log, REDUCER) if info.log != WORKSPACE_LOG else None
    if found is None:
        return None
    try:
        folding, since = Fold(), 0
        while since < found.seq and (records := await store.read(info.log, since, found.seq)):
            for record in records:
                folding.add(codec.entry(record))
            since = records[-1].seq
        good = codec.unpack(found.data) == folding.now
    except (QuireError, ValueError):
        good = False
    if good:
        return None
    what = f"the snapshot at {found.seq} is not what the log folds to; it is a cache: `quire verify --repair` makes it anew"
    return Flaw(log=info.log, seq=found.seq, kind="snapshot", what=what)


async def derived_line(store: Store, log: LogId) -> LogInfo | None:
    """Return what lists show of a log, as the log itself says it."""
    info = await store.info(log)
    first = await store.read(log, 0, 1)
    if info is None or not first or log == WORKSPACE_LOG:
        return info
    folding, since = Fold(), 0
    while since < info.head.seq and (records := await store.read(log, since, info.head.seq)):
        for record in records:
            folding.add(codec.entry(record))
        since = records[-1].seq
    now, (began,) = folding.now, first
    return replace(info, name=now.name, archived=now.archived, created_at=began.at, created_by=began.actor)


async def _check_line(store: Store, info: LogInfo) -> Flaw | None:
    """A forged name would show everybody another notebook in every list."""
    for _ in range(WALKS):
        derived = await derived_line(store, info.log)
        now = await store.info(info.log)
        if derived is None or now is None or derived == now:
            return None
        if derived.head == now.head:
            what = f"lists show {now.name!r}, begun by {now.created_by}, which is not what the log says"
            return Flaw(
                log=info.log, seq=now.head.seq, kind="index", what=f"{what}; `quire verify --repair` corrects it"
            )
    return None


async def _check_index(store: Store, info: LogInfo) -> Flaw | None:
    """A forged index would answer every question wrongly."""
    table = await store.check_index(info.log)
    if table is None:
        return None
    what = f"the index is not what the log folds to ({table}); it is a cache: `quire verify --repair` makes it anew"
    return Flaw(log=info.log, seq=info.head.seq, kind="index", what=what)
