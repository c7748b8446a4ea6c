"""The packages of runs, for questions in SQL: read from their blobs when a question names them.

Rows of the index are made from logs alone, and say only which blob has the packages of a run. There are few
environments and many runs, so each blob is read once for the whole index.
"""

from __future__ import annotations

import re

import msgspec

from ..core.errors import QuireError
from ..stores.store import Blobs, IndexRows, Store

MOST_ENVIRONMENTS = 10_000
MOST_BYTES = 10_000_000
_NAMED = re.compile(r"\bpackages\b", re.IGNORECASE)
_UNREAD = """SELECT DISTINCT packages FROM runs
    WHERE packages IS NOT NULL AND packages NOT IN (SELECT environment FROM packages)"""


async def index_packages(store: Store, blobs: Blobs, sql: str, seconds: float) -> None:
    """Put the packages of every environment into the index, if the question may be about them."""
    if not _NAMED.search(sql):
        return
    rows = IndexRows()
    for (environment,) in (await store.query(_UNREAD, limit=MOST_ENVIRONMENTS, seconds=seconds)).rows:
        versions = await _versions(blobs, environment)
        rows.packages += [(environment, name, version) for name, version in versions.items()]
    if rows.packages:
        indexed = await store.indexed()
        # Where somebody indexes at the same time, these are read again for the next question.
        await store.save_index(rows, indexed, indexed)


async def _versions(blobs: Blobs, hash: str) -> dict[str, str]:
    """What a blob says. A log may name any blob, also one that is not there or is something else."""
    try:
        size = await blobs.size(hash)
        if size is None or size > MOST_BYTES:
            return {}
        return msgspec.json.decode(b"".join([chunk async for chunk in blobs.open(hash)]), type=dict[str, str])
    except (QuireError, msgspec.MsgspecError):
        return {}
