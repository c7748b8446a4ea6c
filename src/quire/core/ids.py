"""Names of things: how ids look, how new ones are made, how people may shorten them.

Randomness and time are arguments. Ids of logs, events, executions and so on are ULIDs:
26 characters that sort by time. Cells get short ids, because people and agents type
them: eight characters, the first four of which no other cell of the notebook shares.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Callable, Iterable
from datetime import datetime
from hashlib import sha256
from typing import NewType, TypeVar

from .errors import BadInput, NotFound, Refused

ActorId = NewType("ActorId", str)
"""`kind:name`, such as `human:ada`; `imported:human:ada` when it was stamped elsewhere."""
LogId = NewType("LogId", str)
EventId = NewType("EventId", str)
CellId = NewType("CellId", str)
ExecutionId = NewType("ExecutionId", str)
ProposalId = NewType("ProposalId", str)
CommentId = NewType("CommentId", str)
ConflictId = NewType("ConflictId", str)
RuntimeId = NewType("RuntimeId", str)
TokenId = NewType("TokenId", str)

WORKSPACE_LOG = LogId("workspace")
MIRROR = ActorId("system:mirror")
"""Who records what comes from a file, on behalf of whoever bound it."""
"""The one log that is neither a notebook's nor a run's."""

HOUSE_KEYS = "quire:"
"""How Quire's own idempotency keys begin: unique in the workspace, whoever acts, and not for clients to choose."""
ACTOR_KINDS = ("human", "agent", "runtime", "schedule", "system")

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = [first + second for first in _CROCKFORD for second in _CROCKFORD]
_LETTERS = "abcdefghjkmnpqrstvwxyz"
_ALPHABET = _LETTERS + "0123456789"
_CELL_ID_LENGTH = 8
_UNIQUE_PREFIX = 4

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@-]{0,63}")
_CELL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")  # nbformat 4.5's rule, so that every id survives in an .ipynb
_ACTOR = re.compile(rf"(?:{'|'.join(ACTOR_KINDS)}):[^\s:]{{1,100}}")
_SCHEDULE = re.compile(r"[^\W_][\w.-]{0,59}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
# Invisible marks that emoji and some scripts need to join or part letters; all others of their kind mislead.
_NOT_SHOWN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_JOINERS = "\u200c\u200d"
_KEY = re.compile(r"[^\x00-\x1f\x7f]{1,200}")

AnyId = TypeVar("AnyId", bound=str)
Entropy = Callable[[int], bytes]
"""Gives that many random bytes; `os.urandom` at the edges, a seeded one in tests."""


def ulid(milliseconds: int, entropy: Entropy) -> str:
    """Make an id that sorts by time: 48 bits of milliseconds, 80 random bits."""
    random = int.from_bytes(entropy(10), "big")
    return _base32(milliseconds) + _base32(random >> 40)[2:] + _base32(random & 0xFF_FFFF_FFFF)[2:]


def _base32(number: int) -> str:
    """Ten digits of base 32. Written out: every event needs an id, and a loop takes three times as long."""
    pairs = _PAIRS
    return (
        pairs[number >> 40 & 1023]
        + pairs[number >> 30 & 1023]
        + pairs[number >> 20 & 1023]
        + pairs[number >> 10 & 1023]
        + pairs[number & 1023]
    )


def new_cell_id(taken: Iterable[str], entropy: Entropy) -> CellId:
    """Make one cell id beside those in `taken`."""
    return new_cell_ids(1, taken, entropy)[0]


def new_cell_ids(count: int, taken: Iterable[str], entropy: Entropy) -> list[CellId]:
    """Make `count` cell ids whose first four characters are shared with no other cell's.

    Each begins with a letter, so that no id looks like the index of a cell.
    """
    prefixes = {other[:_UNIQUE_PREFIX] for other in taken}
    made: list[CellId] = []
    while len(made) < count:
        first, *rest = entropy(_CELL_ID_LENGTH)
        text = _LETTERS[first % len(_LETTERS)] + "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in rest)
        if not any(text[:length] in prefixes for length in range(1, _UNIQUE_PREFIX + 1)):
            prefixes.add(text[:_UNIQUE_PREFIX])
            made.append(CellId(text))
    return made


def resolve(wanted: str, known: Iterable[AnyId], what: str) -> AnyId:
    """Find the one id that `wanted` names: in full, else as the beginning of just one."""
    ids = list(known)
    matching = [each for each in ids if each == wanted] or [each for each in ids if wanted and each.startswith(wanted)]
    if len(matching) == 1:
        return matching[0]
    if matching:
        shown = ", ".join(sorted(matching)[:5])
        raise BadInput(f"{what} {wanted!r} is the beginning of several: {shown}. Add a character.", matching=matching)
    close = nearest(wanted, ids)
    hint = f" Nearest: {', '.join(close)}." if close else ""
    raise NotFound(f"There is no {what} {wanted!r}.{hint}", nearest=close)


def nearest(wanted: str, known: Iterable[str]) -> list[str]:
    """The ids a person most likely meant, best first."""
    return difflib.get_close_matches(wanted, list(known), n=3, cutoff=0.4)


def check_id(text: str, what: str) -> None:
    """Refuse an id that could not stand in a URL, a file name or a terminal."""
    if not _ID.fullmatch(text):
        raise BadInput(f"{what} {text[:80]!r} is not an id: 1 to 64 letters, digits and _ . : @ - are allowed.")


def check_cell_id(text: str) -> None:
    """Refuse a cell id that nbformat would not take."""
    if not _CELL_ID.fullmatch(text):
        raise BadInput(f"Cell id {text[:80]!r} is not valid: 1 to 64 letters, digits, _ and - are allowed.")


def check_key(text: str) -> None:
    """Refuse an idempotency key with control characters, or one too long to index."""
    if not _KEY.fullmatch(text):
        raise BadInput(f"Key {text[:80]!r} is not valid: 1 to 200 printable characters are allowed.")


def check_client_key(text: str) -> None:
    """Refuse a key that a client may not choose: one that is not valid, or one of the house."""
    check_key(text)
    if text.startswith(HOUSE_KEYS):
        raise Refused(
            f"Key {text[:80]!r} is one of Quire's own: keys that begin with {HOUSE_KEYS!r} are not for clients."
        )


def key_owner(key: str, actor: str) -> str:
    """Return within whose keys a key is unique: those of its actor, or, for a key of the house, those of everybody."""
    return "" if key.startswith(HOUSE_KEYS) else actor


def check_name(name: str, what: str) -> None:
    """Refuse a name that a terminal, a URL or a list could not show as it is."""
    shown = all(unicodedata.category(char) not in _NOT_SHOWN or char in _JOINERS for char in name)
    if not 0 < len(name) <= 200 or not shown or name != name.strip():
        raise BadInput(f"{what} is 1 to 200 visible characters without spaces around them, not {name[:80]!r}.")


def check_time(text: str, what: str) -> None:
    """Refuse a time that would not sort among those the workspace stamps."""
    try:
        datetime.fromisoformat(text if _TIME.fullmatch(text) else "")
    except ValueError:
        told = f"{what} {text[:40]!r} is not a time: write it in UTC, as 2026-01-31T06:00:00.000000Z."
        raise BadInput(told) from None


def check_schedule_name(name: str) -> str:
    """Refuse a name that could not stand in the id of an actor, a path or a key."""
    if not _SCHEDULE.fullmatch(name):
        told = f"{name[:80]!r} cannot be the name of a schedule"
        raise BadInput(f"{told}: 1 to 60 letters, digits, _ . and - are allowed, beginning with a letter or a digit.")
    return name


def schedule_actor(name: str) -> ActorId:
    """Return as whom the runs of a schedule are begun."""
    return ActorId(f"schedule:{name}")


def due_key(name: str, due: str, attempt: int = 1) -> str:
    """Return the key of a run that a schedule begins: one of the house, so that there is one run for a due time."""
    return f"{HOUSE_KEYS}{name}@{due}" + (f"#{attempt}" if attempt > 1 else "")


def due_run(schedule: EventId, due: str, attempt: int = 1) -> LogId:
    """Return the log of the run of a schedule (by the event that added it) for a due time: whoever begins it begins that one."""
    drawn = sha256(f"{schedule}@{due}#{attempt}".encode()).digest()
    return LogId(ulid(int(datetime.fromisoformat(due).timestamp() * 1000), lambda count: drawn[:count]))


def check_actor(text: str) -> ActorId:
    """Return `text` as an actor's id, or say what is wrong with it."""
    if not _ACTOR.fullmatch(text) or not text.isprintable():
        raise BadInput(f"Actor {text[:120]!r} is not valid: write kind:name, where kind is {', '.join(ACTOR_KINDS)}.")
    return ActorId(text)


def actor_kind(actor: ActorId) -> str:
    """`human` of `human:ada`; `imported` of `imported:human:ada`."""
    return actor.partition(":")[0]


def works_for_all(actor: ActorId, on_behalf_of: ActorId | None) -> bool:
    """Whether somebody has no roles: Quire itself, and a runtime of the owner of the files. Its token says where it serves.

    Quire itself also where it acts for somebody: whoever lets it do so has looked at what that one may do.
    """
    kind = actor_kind(actor)
    return kind == "system" or (kind == "runtime" and on_behalf_of is None)
