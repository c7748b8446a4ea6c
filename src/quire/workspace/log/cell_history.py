"""Which records of a log are about one cell: they name it, one of its executions, or a proposal that would change it."""

from __future__ import annotations

from typing import Any

import msgspec

from ...core.chain import Record
from ...core.codec import event_types
from ...core.ids import CellId

OUTPUTS = frozenset(("output_added", "stream_appended", "display_updated", "outputs_cleared"))
"""What a cell showed: by far the most of a log, and of no interest to who wrote what and when it ran."""


class _Part(msgspec.Struct, frozen=True):
    """A change or an effect of a proposal."""

    cell: str | None = None
    execution: str | None = None


class _EventSubject(msgspec.Struct, frozen=True):
    """What an event is about, as far as it says so."""

    cell: str | None = None
    execution: str | None = None
    proposal: str | None = None
    changes: tuple[_Part, ...] | None = None
    effects: tuple[_Part, ...] | None = None
    applied: tuple[_Part | tuple[Any, ...], ...] | None = None
    """Of an accepted proposal, its changes; of an edit, its splices, which are lists."""


_decoder = msgspec.json.Decoder(_EventSubject)


class CellHistory:
    """Told of the records of a log in order, from the first on, it knows which ones are about a cell."""

    def __init__(self, cell: CellId) -> None:
        self._cell = cell
        self._executions: set[str] = set()
        self._proposals: set[str] = set()

    @property
    def types_of_interest(self) -> frozenset[str]:
        """The types of events that it has to be told of."""
        return frozenset(event_types()) - OUTPUTS

    def concerns(self, record: Record) -> bool:
        """Whether a record is about the cell."""
        try:
            event = _decoder.decode(record.payload)
        except msgspec.ValidationError:  # of a newer Quire, or masked
            return False
        parts = (*(event.changes or ()), *(event.effects or ()), *(event.applied or ()))
        mine = [part for part in parts if isinstance(part, _Part) and part.cell == self._cell]
        if event.proposal is not None and mine:
            self._proposals.add(event.proposal)
            self._executions.update(part.execution for part in mine if part.execution is not None)
        if event.cell == self._cell and event.execution is not None:
            self._executions.add(event.execution)
        is_named = event.cell == self._cell or bool(mine)
        return is_named or event.execution in self._executions or event.proposal in self._proposals
