"""What is said on the lanes between people and runtimes: each message, by its lane. docs/reference/socket.md lists them.

A message comes from whoever may run, and says whatever they like: `read` takes it for nothing but what
is described here, and names the fault otherwise.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Meta

from ...core.errors import BadInput
from ...core.ids import ActorId, ExecutionId, RuntimeId
from ...core.values import Json

PRESENCE_LANE = "presence"
STDIN, COMPLETION, INSPECTION, COMMS, HEALTH = "stdin", "completion", "inspection", "comms", "health"
T = TypeVar("T")

Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=200)]
Code: TypeAlias = Annotated[str, Meta(max_length=60_000)]
State: TypeAlias = Literal["starting", "idle", "busy", "dead"]
_MOST = 2**53 - 1
Count: TypeAlias = Annotated[int, Meta(ge=0, le=_MOST)]


class LaneMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    """Something that is said, and not kept."""


# ---- presence

Doing: TypeAlias = Literal["reading", "editing", "running", "waiting"]
"""What somebody does in a notebook: a word of ours, never a text of theirs."""


class Selection(msgspec.Struct, frozen=True, rename={"start": "from", "end": "to"}):
    """A part of a cell's text at a number of the log, in code points."""

    start: Count
    end: Count
    seq: Count


class WindowHere(LaneMessage, frozen=True, kw_only=True, tag="here"):
    """A client: a window is open, where its cursor is, and what is done there."""

    window: Name
    cell: Name | None = None
    selection: Selection | None = None
    doing: Doing | None = None
    on_behalf_of: ActorId | None = None
    """For whom its actor acts: the server's word, whatever a client says."""


class WindowGone(LaneMessage, frozen=True, kw_only=True, tag="gone"):
    """A client, or the server when a connection ended: a window is no longer there."""

    window: Name


PRESENCE: Any = WindowHere | WindowGone


# ---- stdin


class Prompt(LaneMessage, frozen=True, kw_only=True, tag="asked"):
    """A runtime: a cell wants to know something. Said again and again until somebody answers."""

    execution: ExecutionId
    prompt: Annotated[str, Meta(max_length=20_000)]
    password: bool = False
    question: Annotated[int, Meta(ge=1, le=_MOST)] = 1
    """Which one of the execution, from 1."""


class PromptAnswered(LaneMessage, frozen=True, kw_only=True, tag="answered"):
    """A runtime: it knows, or it does not wait any more."""

    execution: ExecutionId
    question: Count = 1


class SecretAnswer(LaneMessage, frozen=True, kw_only=True, tag="answer"):
    """The server, to the one runtime that asked: a password, which is recorded nowhere."""

    execution: ExecutionId
    question: Count = 1
    answer: Annotated[str, Meta(max_length=20_000)]


# ---- completion and inspection


class Ask(LaneMessage, frozen=True, kw_only=True, tag="ask"):
    """Somebody: what could stand at a position of the code, or what is known of the name there."""

    id: Name
    code: Code
    position: Count
    """In code points."""
    runtime: Name | None = None
    """Of which runtime, by its id, name or language; without one, of the first that is attached."""
    detail: Annotated[int, Meta(ge=0, le=1)] = 0


class KernelReply(LaneMessage, frozen=True, kw_only=True, tag="answer"):
    """A runtime: what its kernel says, as in Jupyter's reply. `cut` when it would have been too large."""

    id: Name
    content: dict[str, Json]
    cut: bool = False


class Busy(LaneMessage, frozen=True, kw_only=True, tag="busy"):
    """A runtime: its kernel is at work and does not say."""

    id: Name


# ---- comms


class CommOpen(LaneMessage, frozen=True, kw_only=True, tag="open"):
    """A widget's channel is opened, by either side."""

    comm: Name
    target: Name
    data: dict[str, Json] = {}
    metadata: dict[str, Json] = {}
    buffers: tuple[str, ...] = ()
    """Bytes, each as base64."""
    runtime: Name | None = None


class CommMessage(LaneMessage, frozen=True, kw_only=True, tag="message"):
    """Something is said on it."""

    comm: Name
    data: dict[str, Json] = {}
    metadata: dict[str, Json] = {}
    buffers: tuple[str, ...] = ()


class CommClose(LaneMessage, frozen=True, kw_only=True, tag="close"):
    """It is closed."""

    comm: Name
    data: dict[str, Json] = {}


class TooLarge(LaneMessage, frozen=True, kw_only=True, tag="too_large"):
    """A runtime: a widget said more than a lane carries."""

    comm: Name
    size: Count


# ---- health


class RuntimeHealth(LaneMessage, frozen=True, kw_only=True, tag="health"):
    """A runtime: how it and its kernel are."""

    runtime: RuntimeId
    name: Annotated[str, Meta(max_length=200)] = ""
    language: Annotated[str, Meta(max_length=200)] | None = None
    state: State
    execution: ExecutionId | None = None
    """What runs."""
    kernel: Annotated[str, Meta(max_length=200)] | None = None
    pid: Count | None = None
    """Of the kernel's process, where it runs."""
    memory_bytes: Count | None = None
    """Of the kernel and all that it started."""
    memory_limit_bytes: Count | None = None
    cpu_percent: Annotated[float, Meta(ge=0, le=1e9)] | None = None
    """Of one processor, since the last word."""
    environment: dict[str, Json] = {}
    since: Annotated[str, Meta(max_length=40)] = ""
    """Since when it is in this state."""


# ---- any lane


class ReplyFailed(LaneMessage, frozen=True, kw_only=True, tag="failed"):
    """A runtime: what somebody said was not done, and why."""

    why: str
    id: str | None = None
    execution: str | None = None


def read(message: Json, kind: type[T]) -> T:
    """What somebody said, if it is of this kind; else the fault is named."""
    try:
        return msgspec.convert(message, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise BadInput(f"This is not what a runtime understands: {error}. docs/reference/socket.md lists it.") from None


def said(message: LaneMessage) -> Any:
    """A message as it is said."""
    return msgspec.to_builtins(message)
