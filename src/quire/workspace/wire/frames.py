"""What travels between a server and those who talk to it: the bodies of requests and answers, and the frames of the socket.

The door (doors/http) and the client (remote) both speak in these values and nothing else.
docs/reference/http.md and docs/reference/socket.md say it for others. An event travels as the text that is
stored: whoever reads it here reads it as from a log, so an event of a newer Quire passes through.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import msgspec

from ...core import codec
from ...core.chain import Record
from ...core.errors import BadInput, Conflict, NotFound, QuireError, Refused, RunFailed, Unavailable
from ...core.events import Entry, Scope
from ...core.ids import ActorId, EventId, LogId, TokenId
from ...core.values import Json
from ...stores.store import Growth
from ..identity.identities import Identity

# ---- Events


class EntryOnWire(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An entry whose event is still the text that is stored."""

    log: LogId
    seq: int
    id: EventId
    at: str
    actor: ActorId
    event: msgspec.Raw
    key: str | None = None
    cause: EventId | None = None
    on_behalf_of: ActorId | None = None
    hash: str = ""
    imported: bool = False
    redacted: bool = False


def from_record(record: Record) -> EntryOnWire:
    """What a store keeps, as it travels: nothing is read, nothing is written anew."""
    return EntryOnWire(
        log=record.log,
        seq=record.seq,
        id=record.id,
        at=record.at,
        actor=record.actor,
        event=msgspec.Raw(record.payload.encode()),
        key=record.key,
        cause=record.cause,
        on_behalf_of=record.on_behalf_of,
        hash=record.hash,
        imported=record.imported,
        redacted=record.redacted,
    )


def from_entry(entry: Entry) -> EntryOnWire:
    """The same for an entry that was read."""
    return EntryOnWire(
        log=entry.log,
        seq=entry.seq,
        id=entry.id,
        at=entry.at,
        actor=entry.actor,
        event=msgspec.Raw(codec.encode(entry.event).encode()),
        key=entry.key,
        cause=entry.cause,
        on_behalf_of=entry.on_behalf_of,
        hash=entry.hash,
        imported=entry.imported,
        redacted=entry.redacted,
    )


def to_entry(came: EntryOnWire) -> Entry:
    """Read an entry that a server sent."""
    try:
        event = codec.decode(bytes(came.event).decode())
    except (msgspec.DecodeError, UnicodeError) as error:
        raise Unavailable(f"Event {came.seq} of log {came.log} cannot be read as it came: {error}.") from error
    return Entry(
        log=came.log,
        seq=came.seq,
        id=came.id,
        at=came.at,
        actor=came.actor,
        event=event,
        key=came.key,
        cause=came.cause,
        on_behalf_of=came.on_behalf_of,
        hash=came.hash,
        imported=came.imported,
        redacted=came.redacted,
    )


# ---- Faults


class ErrorBody(msgspec.Struct, frozen=True, kw_only=True):
    """Why something was not done."""

    kind: str
    """Refused, Conflict, NotFound, BadInput, RunFailed or Unavailable: the six of core/errors.py."""
    message: str
    details: dict[str, Json] = {}


class Faulty(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a request that failed."""

    error: ErrorBody


_KINDS: dict[str, type[QuireError]] = {
    each.__name__: each for each in (Refused, Conflict, NotFound, BadInput, RunFailed, Unavailable)
}


def fault_of(error: QuireError) -> ErrorBody:
    """A fault as it travels."""
    return ErrorBody(
        kind=type(error).__name__ if type(error).__name__ in _KINDS else "Unavailable",
        message=str(error),
        details=error.details,
    )


def error_of(fault: ErrorBody) -> QuireError:
    """A fault as it is raised where it arrives."""
    error = _KINDS.get(fault.kind, Unavailable)(fault.message)
    error.details = dict(fault.details)  # under whatever names: they came over the network
    return error


# ---- Requests and answers


class Submission(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Drafts to be recorded together. They are read by the codec, strictly: see `codec.draft_from`."""

    drafts: list[dict[str, Any]]
    lease_seconds: Annotated[float, msgspec.Meta(ge=0, le=3600)] | None = None
    """How long a claim among them holds without being renewed; 30 seconds unless it is said."""


class SubmissionOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The drafts as they were recorded, or the one proposal that was made of them."""

    entries: list[EntryOnWire]
    proposed: bool = False
    """Whether the bearer has to ask, so that the only entry is a proposal."""
    unanswered: str | None = None
    """Of an interrupt: which runtime does not answer, and what becomes of the cell."""


class LogPage(msgspec.Struct, frozen=True, kw_only=True):
    """Some of a log: the answer of GET /api/logs/{log}/events."""

    entries: list[EntryOnWire]
    more: bool = False
    """Whether there is more than fits into one answer: ask again from the last number."""


class FeedPage(msgspec.Struct, frozen=True, kw_only=True):
    """Which logs have grown: the answer of GET /api/feed. Without `since` it tells the position alone."""

    growth: list[Growth]
    position: int
    """How far this goes, also where the bearer may not see what grew: the next `since`."""


class Me(msgspec.Struct, frozen=True, kw_only=True):
    """Who somebody is here."""

    actor: ActorId
    scopes: tuple[Scope, ...]
    on_behalf_of: ActorId | None = None
    notebooks: tuple[LogId, ...] | None = None
    asks: tuple[Scope, ...] = ()
    token: TokenId | None = None
    expires_at: str | None = None


class SignedIn(Me, frozen=True, kw_only=True):
    """Who just signed in, and the half of the browser's secret that is not in its cookie."""

    page_key: str
    """Kept by the page in its local storage, and sent with each request: a cookie alone opens nothing."""


def me(identity: Identity) -> Me:
    """An identity as it travels."""
    return Me(
        actor=identity.actor,
        scopes=tuple(sorted(identity.scopes)),
        on_behalf_of=identity.on_behalf_of,
        notebooks=None if identity.notebooks is None else tuple(sorted(identity.notebooks)),
        asks=tuple(sorted(identity.asks)),
        token=identity.token,
        expires_at=identity.expires_at,
    )


def identity_of(came: Me) -> Identity:
    """Who a server says that the bearer of a token is. It is the server that checks; this is for messages."""
    return Identity(
        actor=came.actor,
        scopes=frozenset(came.scopes),
        on_behalf_of=came.on_behalf_of,
        notebooks=None if came.notebooks is None else frozenset(came.notebooks),
        asks=frozenset(came.asks),
        token=came.token,
        expires_at=came.expires_at,
    )


# ---- Frames to the server


class Frame(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """One message on the socket. `id` is the sender's own name for a request, by which answers refer to it."""


class Follow(Frame, frozen=True, kw_only=True, omit_defaults=True, tag="follow", forbid_unknown_fields=True):
    """Send the entries of a log after `since`, and then whatever comes."""

    id: str
    log: LogId
    since: int = 0


class FollowFeed(Frame, frozen=True, kw_only=True, omit_defaults=True, tag="feed", forbid_unknown_fields=True):
    """Send which logs grow, after a position or from now on."""

    id: str
    since: int | None = None


class Listen(Frame, frozen=True, kw_only=True, omit_defaults=True, tag="listen", forbid_unknown_fields=True):
    """Send what is said on a lane of a log: `presence`, `selections`, `stdin`, `completion`, `inspection`, `progress` …"""

    id: str
    log: LogId
    lane: str


class Stop(Frame, frozen=True, kw_only=True, omit_defaults=True, tag="stop", forbid_unknown_fields=True):
    """Send no more of what was asked for under this id."""

    id: str


class Submit(Frame, frozen=True, kw_only=True, omit_defaults=True, tag="submit", forbid_unknown_fields=True):
    """Record these drafts, all or none."""

    id: str
    log: LogId
    drafts: list[dict[str, Any]]


class Say(Frame, frozen=True, kw_only=True, omit_defaults=True, tag="say", forbid_unknown_fields=True):
    """Say something on a lane of a log, to whoever listens now. Nothing of it is kept, and nothing answers."""

    log: LogId
    lane: str
    message: Json


class Hello(Frame, frozen=True, kw_only=True, omit_defaults=True, tag="hello"):
    """The first frame of a page: the half of the browser's secret that is not in its cookie."""

    page_key: str


ToServer: TypeAlias = Follow | FollowFeed | Listen | Stop | Submit | Say

# ---- Frames from the server


class Welcome(Frame, frozen=True, kw_only=True, omit_defaults=True, tag="welcome"):
    """The first frame: who the server takes you for, and how it counts."""

    me: Me
    version: str
    tick_milliseconds: int
    at: str = ""
    """The server's time."""
    reducer: int = 0
    """The version of its reducer: a client that folds logs itself and has another one folds them differently."""


class Events(Frame, frozen=True, kw_only=True, omit_defaults=True, tag="events"):
    """What was recorded since the last of these: without a gap, without a repetition. The first comes at once, perhaps empty."""

    id: str
    entries: list[EntryOnWire]
    head: int
    """The last number of the log when this was sent: as far as `entries` goes, or further."""


class Grown(Frame, frozen=True, kw_only=True, omit_defaults=True, tag="grown"):
    """Which logs have grown. The first comes at once, perhaps with nothing but the position."""

    id: str
    growth: list[Growth]
    position: int = 0
    """How far this goes, also where the bearer may not see what grew: the next `since`."""


class LaneFrame(Frame, frozen=True, kw_only=True, omit_defaults=True, tag="said"):
    """What somebody said on a lane; by whom is the server's word."""

    id: str
    by: ActorId
    message: Json


class RecordedFrame(Frame, frozen=True, kw_only=True, omit_defaults=True, tag="recorded"):
    """The answer to `submit`."""

    id: str
    entries: list[EntryOnWire]
    proposed: bool = False


class FailedFrame(Frame, frozen=True, kw_only=True, omit_defaults=True, tag="failed"):
    """What was asked for under this id is not done, or no longer; without id: what came could not be read."""

    error: ErrorBody
    id: str | None = None


FromServer: TypeAlias = Welcome | Events | Grown | LaneFrame | RecordedFrame | FailedFrame

_encoder = msgspec.json.Encoder(enc_hook=str)  # the details of a fault may hold anything


def encoded_frame(frame: Frame) -> str:
    """Return a frame as it is sent."""
    return _encoder.encode(frame).decode()


TICK_MILLISECONDS = 20
"""How long what happens is gathered before a frame is sent."""
SLOW_SECONDS = 30.0
"""Whoever takes nothing for so long is disconnected."""
CLOSE_SLOW = 4408
CLOSE_SIGNED_OUT = 4401
"""The token was revoked or has expired: connecting again with it is no use."""
CLOSE_GOING_AWAY = 1012
"""The server restarts: connect again, from where you were."""
