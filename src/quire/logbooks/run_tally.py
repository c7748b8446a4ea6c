"""How the runs of each template went: counted from the index, which has a row for each."""

from __future__ import annotations

import msgspec

from ..workspace.protocol import Workspace

_MOST = 10_000
_QUESTION = (
    "SELECT template, count(*),"
    " sum(CASE WHEN status = 'success' AND deviated = 0 AND skipped = 0 AND failed = 0 THEN 1 ELSE 0 END),"
    " sum(CASE WHEN deviated > 0 THEN 1 ELSE 0 END), sum(CASE WHEN skipped > 0 THEN 1 ELSE 0 END),"
    " sum(CASE WHEN status NOT IN ('success', 'queued', 'claimed', 'running') THEN 1 ELSE 0 END),"
    " sum(CASE WHEN status IN ('queued', 'claimed', 'running') THEN 1 ELSE 0 END), max(requested_at)"
    " FROM runs WHERE template IS NOT NULL GROUP BY template"
)


class RunTally(msgspec.Struct, frozen=True, kw_only=True):
    """The runs of one template: a run that deviated and failed counts as both."""

    runs: int = 0
    succeeded: int = 0
    """As the template has it: nothing deviated, was skipped or failed."""
    deviated: int = 0
    skipped: int = 0
    failed: int = 0
    open: int = 0
    last: str | None = None


async def run_tallies(workspace: Workspace) -> dict[str, RunTally]:
    """Return how the runs of each template went, by its path."""
    answer = await workspace.query(_QUESTION, limit=_MOST)
    return {
        template: RunTally(
            runs=runs, succeeded=succeeded, deviated=deviated, skipped=skipped, failed=failed, open=is_open, last=last
        )
        for template, runs, succeeded, deviated, skipped, failed, is_open, last in answer.rows
    }
