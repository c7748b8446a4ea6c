"""The right to be the only one who does something, for whoever is not a runtime.

A hold is a lease under a name. It is for a process, not for an actor: two processes of one
person exclude each other. Over the network it is for whoever came with a token. On the
machine where the holder ran, a hold of a process that is gone is free at once; elsewhere it
runs out.
"""

from __future__ import annotations

from ...core.errors import Refused
from ...core.ids import LogId, RuntimeId
from ...stores.store import Lease, Store
from ..identity.identities import Identity
from .process_id import is_gone, this_process

Hold = Lease

_PREFIX = "hold:"
RUNTIME, FULL = "runtime", "runtimes-full"
_HOUSE = frozenset((RUNTIME, FULL, "server"))
"""What is before the colon in the names that only processes beside the store hold."""
_MIRROR = "mirror:"
_STARTED = "live-"


def holder_of(identity: Identity) -> str:
    """Under which name somebody holds: a process of this machine, or whoever came with a token."""
    return f"runtime:{this_process()}" if identity.token is None else f"token:{identity.token}"


def mirrored_log(name: str) -> LogId | None:
    """Return the log whose mirror has a hold of this name: that is for who may bind the log to a file."""
    return LogId(name.removeprefix(_MIRROR)) if name.startswith(_MIRROR) else None


def check_name(identity: Identity, name: str) -> None:
    """Refuse to bearers of tokens the names of the house: they could keep servers and runtimes from working."""
    if identity.token is not None and name.partition(":")[0] in _HOUSE:
        raise Refused(f"{identity.actor} cannot hold {name[:80]!r}: that is for processes beside the store.")


def check(identity: Identity, hold: Hold) -> None:
    """Refuse what is not theirs: somebody else's hold, or the lease of a claim."""
    if not hold.name.startswith(_PREFIX) or hold.holder != holder_of(identity):
        raise Refused(f"{identity.actor} does not hold {hold.name[:80]!r}.")


def full_name(name: str) -> str:
    """The name of the lease."""
    return f"{_PREFIX}{name}"


def short_name(name: str) -> str:
    """What was held under the name of a lease; nothing, if that is no hold."""
    return name.removeprefix(_PREFIX) if name.startswith(_PREFIX) else ""


def runtime_hold(log: LogId) -> str:
    """What the one process that serves a notebook holds."""
    return f"{RUNTIME}:{log}"


def brought_hold(log: LogId, runtime: str) -> str:
    """What a runtime holds in a notebook that somebody brought, beside the store: others may serve it, too."""
    return f"{RUNTIME}:{log}:{runtime}"


def started_runtime(random: str) -> str:
    """A name for a runtime that a server starts: its process holds the notebook under `runtime_hold`.

    It is not called after its process: the next one goes on under this name with the kernel, and with what runs in it.
    """
    return f"{_STARTED}{random}"


def is_started(runtime: RuntimeId) -> bool:
    """Whether a runtime was started by a server, so that whoever has the hold of the notebook is its process."""
    return runtime.startswith(f"runtime:{_STARTED}")


async def find(store: Store, name: str) -> Hold | None:
    """Return the hold of this name, also one that lapsed and that nobody took."""
    full = full_name(name)
    return next((lease for lease in await store.leases() if lease.name == full), None)


async def take(store: Store, name: str, seconds: float, holder: str) -> Hold | None:
    """Take what is free; None while somebody holds it."""
    full = full_name(name)
    taken = await store.acquire(full, holder, seconds)
    if taken is not None:
        return taken
    held = await store.lease(full)
    if held is not None and is_gone(held.holder):
        await store.release(held)
    return await store.acquire(full, holder, seconds)
