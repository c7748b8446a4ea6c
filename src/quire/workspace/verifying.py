"""Whether a log is what was recorded, and whether what is derived from it is true."""

from __future__ import annotations

from ..core import codec
from ..core.chain import Flaw, Verifier
from ..core.errors import QuireError
from ..core.ids import WORKSPACE_LOG
from ..core.reduce import REDUCER, Fold
from ..stores.store import LogInfo, Store
from .workspace import Verified


async def verify_log(store: Store, info: LogInfo, imported: int = 0) -> Verified:
    """Walk the chain of a log, of which so many came from elsewhere; if that holds, compare its snapshot."""
    verifier = Verifier(info.log, info.head, imported)
    since = 0
    while records := await store.read(info.log, since):
        for record in records:
            verifier.add(record)
        since = records[-1].seq
    flaw = verifier.finish() or await _check_snapshot(store, info)
    return Verified(log=info.log, kind=info.kind, name=info.name, head=info.head, flaw=flaw)


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
