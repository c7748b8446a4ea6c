"""What makes it possible to say the same again: ids, and leaving out what was recorded."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st

from quire.core import events as e
from quire.core.events import Draft, KnownEvent
from quire.core.ids import CellId, ExecutionId
from quire.kernels import kernel_protocol
from quire.kernels.kernel_protocol import Kernel
from quire.kernels.relay.execution_state import DraftIds, Once
from quire.kernels.relay.relay_frames import packed, unpacked
from quire.outputs.streams import Blob, kept

from .real_kernels import ENV, script

EXECUTION = ExecutionId("01M7GFVPH90000000000000001")


@pytest_asyncio.fixture
async def both() -> AsyncGenerator[tuple[Kernel, Kernel]]:
    """Two kernels."""
    sleep = script("import time; time.sleep(600)")
    both = [await kernel_protocol.start(sleep, cwd=Path("/"), env=ENV) for _ in range(2)]
    yield both[0], both[1]
    for each in both:
        await each.close()


def spoken(execution: ExecutionId = EXECUTION, epoch: int = 7) -> list[KnownEvent]:
    """All that is said of an execution, once each."""
    result = e.ResultRecorded(execution=execution, epoch=epoch, name="x", kind="json", value=1)
    return [
        e.ExecutionStarted(execution=execution, cell=CellId("c1"), source_hash="0" * 64, epoch=epoch),
        e.StreamAppended(execution=execution, epoch=epoch, chunk=0, name="stdout", offset=0, text="a"),
        result,
        e.OutputsCleared(execution=execution, epoch=epoch, chunk=1),
        result,
        e.ExecutionFinished(execution=execution, epoch=epoch, status="ok"),
    ]


def ids(kernel: Kernel, execution: ExecutionId = EXECUTION, epoch: int = 7) -> list[str]:
    make = DraftIds(kernel, execution, epoch)
    return [make(event) for event in spoken(execution, epoch)]


async def test_ids_are_the_same_again_and_those_of_nobody_else(both: tuple[Kernel, Kernel]) -> None:
    kernel, other = both
    first = ids(kernel)
    assert first == ids(kernel)
    others = [*ids(kernel, epoch=8), *ids(kernel, ExecutionId("another")), *ids(other)]
    assert len({*first, *others}) == 4 * len(first), "and nobody can make them who has another key"
    assert all(len(each) == 26 and each.isalnum() and each.isupper() for each in first)


async def test_what_is_not_said_again_gets_an_id_of_its_own(both: tuple[Kernel, Kernel]) -> None:
    answered = e.InputAnswered(execution=EXECUTION, prompt="?", answer="1")
    make = DraftIds(both[0], EXECUTION, 7)
    assert make(answered) != make(answered)


class Outlet:
    """Keeps what it is given."""

    def __init__(self) -> None:
        self.submitted: list[list[Draft]] = []
        self.blobs: list[Blob] = []

    async def submit(self, drafts: Sequence[Draft]) -> None:
        self.submitted.append(list(drafts))

    async def keep(self, blob: Blob) -> None:
        self.blobs.append(blob)


async def test_what_the_log_has_is_left_out_and_nothing_is_submitted_for_nothing(both: tuple[Kernel, Kernel]) -> None:
    make, outlet = DraftIds(both[0], EXECUTION, 7), Outlet()
    drafts = [Draft(id=make(event), event=event) for event in spoken()]
    once = Once(outlet, [draft.id for draft in drafts[:3]])
    await once.submit(drafts[:2])
    await once.submit(drafts[2:])
    await once.keep(kept(b"bytes", "text/plain"))
    assert outlet.submitted == [drafts[3:]]
    assert len(outlet.blobs) == 1


@given(st.lists(st.binary(max_size=300), max_size=8), st.binary(max_size=9))
def test_the_parts_of_a_message_arrive_as_they_were(parts: list[bytes], before: bytes) -> None:
    assert unpacked(before + packed(parts), len(before)) == parts


@given(st.lists(st.binary(min_size=1, max_size=20), min_size=1, max_size=4), st.data())
def test_a_message_that_is_cut_off_is_not_taken_for_another(parts: list[bytes], data: st.DataObject) -> None:
    whole = packed(parts)
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    with contextlib.suppress(ValueError):  # which is as good as an end between two parts
        found = unpacked(cut, 0)
        assert found == parts[: len(found)] != parts
