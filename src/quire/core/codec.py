"""Events as text and back.

What is stored is JSON, one object per event with its tag under `type`, fields that have
their default left out. Stored text is never written again: it is hashed as it stands.
Text from a sender is read strictly (an unknown field is a mistake); text from a log is
read leniently, and an event of an unknown type is kept as `Unknown`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast, get_args

import msgspec

from .chain import Record
from .errors import BadInput, Unavailable
from .event_fields import check_fields
from .events import AnyEvent, Draft, Entry, Event, KnownEvent, Unknown
from .notebook.notebook import Notebook

MAX_EVENT_BYTES = 16 * 1024 * 1024
"""Larger events are refused: large bytes belong into blobs."""

MAX_DEPTH = 100
MAX_INTEGER = 2**53
_LONG_NUMBER = re.compile(r"[0-9]{16}")

Upcast = Callable[[dict[str, Any]], dict[str, Any]]
UPCASTS: Mapping[str, Upcast] = {}
"""How events of old tags read today: old tag -> its fields as those of a current event, `type` included.

A tag never changes its meaning (rule 15): a new meaning is a new tag, and a line here.
"""

_decoder = msgspec.json.Decoder(KnownEvent)
_encoder = msgspec.json.Encoder()
_snapshot_decoder = msgspec.msgpack.Decoder(Notebook)


class _EventTag(msgspec.Struct):
    type: str


_tag_decoder = msgspec.json.Decoder(_EventTag)


def event_types() -> dict[str, type[Event]]:
    """Every event this version knows, by its tag."""
    return {cast("str", kind.__struct_config__.tag): kind for kind in get_args(KnownEvent)}


_KNOWN = event_types()


def type_of(event: AnyEvent) -> str:
    """The tag of an event: `cell_added` …"""
    return event.type if isinstance(event, Unknown) else cast("str", event.__struct_config__.tag)


def encode(event: AnyEvent) -> str:
    """Return the text to store."""
    if isinstance(event, Unknown):
        return bytes(event.raw).decode()
    try:
        payload = _encoder.encode(event)
    except UnicodeEncodeError as error:
        raise BadInput(f"Event {type_of(event)} holds half a character ({error.reason}). Send whole ones.") from error
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInput(f"Event {type_of(event)} cannot be written as JSON: {error}.") from error
    if len(payload) > MAX_EVENT_BYTES:
        raise BadInput(
            f"Event {type_of(event)} has {len(payload):,} bytes; {MAX_EVENT_BYTES:,} are allowed. "
            "Put large bytes into a blob and refer to it."
        )
    text = payload.decode()
    check_json(text, f"Event {type_of(event)}")
    return text


def check_json(text: str, what: str) -> None:
    """Refuse JSON that some reader would choke on or change: nested too deeply, or with huge integers."""
    if text.count("{") + text.count("[") > MAX_DEPTH or _LONG_NUMBER.search(text):
        _check_parts(msgspec.json.decode(text), what)


def _check_parts(value: Any, what: str) -> None:
    level: list[Any] = [value]
    depth = 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise BadInput(f"{what} is nested more than {MAX_DEPTH} deep. Keep such a thing in a blob.")
        if any(isinstance(each, int) and not -MAX_INTEGER <= each <= MAX_INTEGER for each in level):
            raise BadInput(
                f"{what} holds an integer past 2^53, which JSON does not carry everywhere. Tag it (values.tag)."
            )
        level = [inner for each in level for inner in _inside(each)]


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return cast("dict[str, Any]", value).values()
    return cast("list[Any]", value) if isinstance(value, list) else ()


def decode(payload: str, upcasts: Mapping[str, Upcast] = UPCASTS) -> AnyEvent:
    """Read stored text. Old events come back as today's, unknown ones as `Unknown`."""
    try:
        return _decoder.decode(payload)
    except msgspec.ValidationError:
        return _decode_other(payload, upcasts)


def _decode_other(payload: str, upcasts: Mapping[str, Upcast]) -> AnyEvent:
    kind = _tag_decoder.decode(payload).type
    if kind in upcasts:
        fields = upcasts[kind](msgspec.json.decode(payload))
        return msgspec.convert(fields, KnownEvent)
    if kind in _KNOWN:
        return _decoder.decode(payload)  # a known event that does not fit: let the reason out
    return Unknown(type=kind, raw=msgspec.Raw(payload.encode()))


def entry(record: Record) -> Entry:
    """Read what a store keeps."""
    try:
        event = decode(record.payload)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise Unavailable(
            f"Event {record.seq} of log {record.log} cannot be read ({error}). Run `quire verify {record.log}`."
        ) from error
    return Entry(
        log=record.log,
        seq=record.seq,
        id=record.id,
        at=record.at,
        actor=record.actor,
        event=event,
        key=record.key,
        cause=record.cause,
        on_behalf_of=record.on_behalf_of,
        hash=record.hash,
        imported=record.imported,
        redacted=record.redacted,
    )


def pack(notebook: Notebook) -> bytes:
    """Write a snapshot."""
    return msgspec.msgpack.encode(notebook)


def unpack(data: bytes) -> Notebook:
    """Read a snapshot that this version of the reducer wrote."""
    return _snapshot_decoder.decode(data)


# ---- What senders send


def draft_from(fields: Any) -> Draft:
    """Read a draft somebody sent, as parsed JSON, strictly: every fault is the sender's and is named."""
    kind = _event_type(fields)
    if kind not in _KNOWN:
        raise BadInput(
            f"Event type {kind!r} is not known here. It may come from a newer Quire: upgrade, or see docs/reference/events.md."
        )
    try:
        draft = msgspec.convert(fields, Draft)
    except (msgspec.ValidationError, RecursionError) as error:
        raise BadInput(f"Event {kind}: {error}. docs/reference/events.md lists its fields.") from error
    check_fields(fields, Draft)
    return draft


def _event_type(fields: Any) -> str:
    event: Any = cast("dict[str, Any]", fields).get("event") if isinstance(fields, dict) else None
    kind: Any = cast("dict[str, Any]", event).get("type") if isinstance(event, dict) else None
    if not isinstance(kind, str):
        raise BadInput("A draft is an object with `id` and `event`, and the event has a `type`.")
    return kind
