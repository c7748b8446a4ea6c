"""Nobody changes a log without being found out (rule 4)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quire.core.chain import Flaw, Head, Record, Verifier, digest, link
from quire.core.ids import ActorId, EventId, LogId
from quire.stores.memory_store import MemoryStore
from quire.stores.store import Append, UnsealedRecord

pytestmark = pytest.mark.generated

LOG = LogId("n1")


def records(count: int) -> list[Record]:
    """A log as a store seals it."""
    made: list[Record] = []
    previous = Head()
    for number in range(1, count + 1):
        payload = f'{{"type":"notebook_renamed","name":"n{number}"}}'
        at = f"2026-01-01T00:00:{number:02}.000000Z"
        id, actor = EventId(f"e{number}"), ActorId("human:ada")
        record = Record(LOG, number, id, None, None, at, actor, None, "notebook_renamed", payload, digest(payload), "")
        made.append(replace(record, hash=link(record, previous.hash)))
        previous = Head(number, made[-1].hash, at)
    return made


def verify(log: list[Record], head: Head) -> Flaw | None:
    verifier = Verifier(LOG, head)
    for record in log:
        verifier.add(record)
    return verifier.finish()


def head_of(log: list[Record]) -> Head:
    return Head(log[-1].seq, log[-1].hash, log[-1].at)


CHANGES: dict[str, Callable[[Record], Record]] = {
    "payload": lambda record: replace(record, payload=record.payload + " "),
    "digest": lambda record: replace(record, digest=digest("other")),
    "payload and digest": lambda record: replace(record, payload="{}", digest=digest("{}")),
    "hash": lambda record: replace(record, hash=digest("other")),
    "actor": lambda record: replace(record, actor=ActorId("human:eve")),
    "at": lambda record: replace(record, at="2026-01-01T00:00:00.000000Z"),
    "id": lambda record: replace(record, id=EventId("other")),
    "key": lambda record: replace(record, key="other"),
    "cause": lambda record: replace(record, cause=EventId("other")),
    "on_behalf_of": lambda record: replace(record, on_behalf_of=ActorId("human:eve")),
    "type": lambda record: replace(record, type="cell_removed"),
    "log": lambda record: replace(record, log=LogId("n2")),
}


@given(st.integers(1, 12), st.data(), st.sampled_from(sorted(CHANGES)))
def test_any_single_changed_event_is_found_and_named(count: int, data: st.DataObject, what: str) -> None:
    log = records(count)
    head = head_of(log)
    k = data.draw(st.integers(0, count - 1))
    log[k] = CHANGES[what](log[k])
    flaw = verify(log, head)
    assert flaw is not None
    assert (flaw.seq, flaw.kind) == (k + 1, "changed")


@given(st.integers(1, 12), st.data(), st.booleans())
def test_any_removed_event_is_found_and_named(count: int, data: st.DataObject, renumbered: bool) -> None:
    """Also the last one, and also when those behind it were moved up to close the gap."""
    log = records(count)
    head = head_of(log)
    k = data.draw(st.integers(0, count - 1))
    del log[k]
    if renumbered:
        log[k:] = [replace(record, seq=record.seq - 1) for record in log[k:]]
    flaw = verify(log, head)
    assert flaw is not None
    assert flaw.seq == k + 1
    # Of two records, one taken out from between others and one changed look alike when none follows.
    assert flaw.kind == "removed" or (renumbered and k == count - 2 and flaw.kind == "changed")


@given(st.integers(2, 12), st.data())
def test_any_two_swapped_events_are_found_and_the_first_is_named(count: int, data: st.DataObject) -> None:
    log = records(count)
    head = head_of(log)
    a, b = sorted(data.draw(st.lists(st.integers(0, count - 1), min_size=2, max_size=2, unique=True)))
    log[a], log[b] = replace(log[b], seq=a + 1), replace(log[a], seq=b + 1)
    flaw = verify(log, head)
    assert flaw is not None
    assert (flaw.seq, flaw.kind) == (a + 1, "moved")
    assert str(b + 1) in flaw.what


@given(st.integers(1, 12), st.data())
def test_an_added_event_is_found_and_named(count: int, data: st.DataObject) -> None:
    log = records(count)
    head = head_of(log)
    k = data.draw(st.integers(0, count))
    added = replace(
        records(1)[0], seq=k + 1, id=EventId("added"), payload='{"forged":1}', digest=digest('{"forged":1}')
    )
    added = replace(added, hash=link(added, log[k - 1].hash if k else "0" * 64))
    log[k:] = [added, *(replace(record, seq=record.seq + 1) for record in log[k:])]
    flaw = verify(log, head)
    assert flaw is not None
    # A forged event that fits onto the one before it shows at the next one, which no longer fits onto it.
    assert flaw.seq == (k + 1 if k == count else k + 2)


@given(st.integers(1, 12), st.data())
def test_an_added_event_that_fits_nowhere_is_named_itself(count: int, data: st.DataObject) -> None:
    log = records(count)
    head = head_of(log)
    k = data.draw(st.integers(0, count - 1))
    added = replace(records(1)[0], seq=k + 1, id=EventId("added"))
    log[k:] = [added, *(replace(record, seq=record.seq + 1) for record in log[k:])]
    flaw = verify(log, head)
    assert flaw is not None
    assert (flaw.seq, flaw.kind) == (k + 1, "added")


@given(st.integers(1, 12))
def test_a_whole_log_verifies(count: int) -> None:
    log = records(count)
    assert verify(log, head_of(log)) is None


def test_a_head_that_was_changed_shows() -> None:
    log = records(3)
    assert verify(log, Head(3, digest("other"), log[-1].at)) is not None
    assert verify(log, Head(2, log[1].hash, log[1].at)) is not None
    assert verify(log, Head(4, log[2].hash, log[2].at)) is not None


def masked(log: list[Record], seq: int, mask: str, told: str | None = None) -> list[Record]:
    """The log after a redaction of `seq` that was told as `told`."""
    payload = f'{{"type":"payload_redacted","seq":{seq},"why":"leak","replacement":"{told or digest(mask)}"}}'
    last = log[-1]
    record = replace(
        last, seq=last.seq + 1, id=EventId("r"), type="payload_redacted", payload=payload, digest=digest(payload)
    )
    changed = [replace(each, payload=mask, redacted=True) if each.seq == seq else each for each in log]
    return [*changed, replace(record, hash=link(record, last.hash))]


@given(st.integers(1, 12), st.data())
def test_a_redacted_payload_still_verifies(count: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, count))
    log = masked(records(count), k, '{"type":"notebook_renamed","name":"█"}')
    assert verify(log, head_of(log)) is None
    again = masked(log, k, '{"type":"notebook_renamed","name":""}')
    assert verify(again, head_of(again)) is None


@pytest.mark.parametrize("tamper", ["mask changed", "mask not told", "unmasked again"])
def test_a_mask_is_in_the_chain_too(tamper: str) -> None:
    log = masked(records(5), 2, "{}")
    if tamper == "mask changed":
        log[1] = replace(log[1], payload='{"name":"forged"}')
    if tamper == "mask not told":
        log[2] = replace(log[2], payload="{}", redacted=True)
    if tamper == "unmasked again":
        log[1] = records(5)[1]
    flaw = verify(log, head_of(log))
    assert flaw is not None
    assert flaw.seq == (3 if tamper == "mask not told" else 2)


async def test_what_a_store_seals_verifies() -> None:
    store = MemoryStore()
    one = partial(
        UnsealedRecord, key=None, cause=None, at="2026", actor=ActorId("human:ada"), on_behalf_of=None, type="x"
    )
    made = tuple(one(id=EventId(f"e{n}"), payload=str(n), digest=digest(str(n))) for n in range(20))
    await store.append([Append(log=LOG, kind="notebook", expected=0, records=made)])
    log = await store.read(LOG)
    assert verify(log, head_of(log)) is None
