"""How and where a kernel is started: the one seam that other ways of starting replace.

`start` makes a process on this machine (kernels/process/local_kernel.py); kernels that are forked from a warm one,
or that run elsewhere, come as other `Kernel`s. Talking to one is kernel_client.py's business; which
interpreter it is, environments.py's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import msgspec

from ..core.ids import ActorId, LogId
from ..core.values import Json
from .process.exit_status import ProcessExit

if TYPE_CHECKING:
    from .relay.execution_state import Flight
    from .transport.jupyter_wire import ReceivedMessage

GRACE_SECONDS = 10.0
"""A kernel is gone this long after the process that used it, if that ended without a word (rule 11)."""
KEEP_SECONDS = 86_400.0
"""A kernel that a run left alive is gone this long after it, if nobody has used it."""
ORPHAN_SECONDS = 600.0
"""A relay without a runtime ends its kernel after this long."""


class Spec(msgspec.Struct, frozen=True, kw_only=True):
    """What it takes to start a kernel."""

    argv: tuple[str, ...]
    """The command; `{connection_file}` in it is replaced."""
    language: str
    name: str
    display_name: str = ""
    env: dict[str, str] = {}
    """Variables over and above, and before, those of the caller."""
    interrupt_mode: Literal["signal", "message"] = "signal"
    interpreter: str | None = None
    """Of a Python kernel, the Python that runs it."""
    is_ours: bool = False
    """Started by kernels/process/launch.py: its outputs wait for a slow client, and it can do with sockets in a folder."""


class ReplayStore(Protocol):
    """The part of a conversation that outlives the process that leads it: what was said is kept beside the kernel."""

    since: int
    """The number of the last message that was heard before this conversation."""

    def begin(self, content: dict[str, Json], flight: bytes, after: int) -> str:
        """Send an execute_request, and have its `flight` kept with all that is said after message `after`."""
        ...

    async def mark(self, note: bytes) -> None:
        """Have a note kept among the messages. It is there, whatever becomes of this process, when this returns."""
        ...

    def forget(self, until: int) -> None:
        """Have dropped the messages up to that number, all notes, and the flight: they are recorded."""
        ...

    def replay(self) -> None:
        """Say again, at once, what an earlier process has heard or missed."""
        ...


class KernelChannel(Protocol):
    """What carries messages to one kernel and back; what comes is given to whoever opened it."""

    is_held: bool
    """Whether outputs are not taken for now."""
    hung_up: asyncio.Event
    """Set once no more outputs can come, after all that were sent were heard."""
    cut_off: str
    """Why the kernel cannot be heard though it may live, to go on from "the kernel"; nothing while it can."""
    remembers: ReplayStore | None
    """None where what is said is gone with this process."""

    def send(
        self,
        channel: str,
        type: str,
        content: dict[str, Json],
        *,
        parent: msgspec.Raw | None = None,
        metadata: dict[str, Json] | None = None,
        buffers: Sequence[bytes] = (),
    ) -> str:
        """Send a message, and return its id."""
        ...

    def hold(self) -> None:
        """Take no outputs for now, if the kernel waits with them."""
        ...

    def go_on(self) -> None:
        """Take outputs again."""
        ...

    def close(self) -> None:
        """Let go of it. The kernel goes on."""
        ...


class Kernel(Protocol):
    """A kernel that was started, wherever it is."""

    @property
    def id(self) -> str:
        """By which `adopt` finds it."""
        ...

    @property
    def spec(self) -> Spec:
        """What it was started from."""
        ...

    @property
    def connection(self) -> dict[str, Any]:
        """Where and how to talk to it, as in Jupyter's connection files."""
        ...

    @property
    def pid(self) -> int | None:
        """The number of its process, if that is on this machine."""
        ...

    @property
    def printed(self) -> str:
        """The end of what it printed past Jupyter: why it could not start."""
        ...

    def open(self, hear: Callable[[ReceivedMessage], None]) -> KernelChannel:
        """Begin to talk to it. One conversation at a time."""
        ...

    def used_by(self, run: str) -> None:
        """Keep in mind which run has changed its state last."""
        ...

    def serves(self, where: str, log: LogId, actor: ActorId) -> None:
        """Keep in mind what it is used for, so that `adopt_served` finds it."""
        ...

    async def interrupt(self) -> None:
        """Stop what it does, by a signal; one with interrupt_mode `message` is sent a message instead."""
        ...

    async def kill(self) -> None:
        """End it at once, and all that it started. Returns when it is gone."""
        ...

    async def ended(self) -> ProcessExit:
        """Wait until it is gone, and say how."""
        ...

    async def leave(self, seconds: float = KEEP_SECONDS) -> None:
        """Let go of it, and let it live on: for so long, if nobody goes on with it."""
        ...

    async def close(self) -> None:
        """End it if it still lives, and let go of everything: processes, sockets, files."""
        ...


class AdoptedKernel(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel whose runtime is gone, and what that had under way."""

    kernel: Kernel
    flight: Flight | None
    """Give it to the `KernelClient`, and then to `CellRunner.go_on`."""
    actor: ActorId
    """As whom the runtime acted, and the next one is to."""


async def start(
    spec: Spec,
    *,
    cwd: Path,
    env: Mapping[str, str],
    grace_seconds: float = GRACE_SECONDS,
    relayed: bool = False,
    orphan_seconds: float = ORPHAN_SECONDS,
) -> Kernel:
    """Start a kernel on this machine. Returns at once: `KernelClient.ready` waits for it.

    With a relay beside it the kernel outlives this process, by `orphan_seconds` if nobody adopts it.
    """
    from .process import local_kernel

    kernel = local_kernel.start(spec, cwd, env, grace_seconds)
    return await local_kernel.with_relay(kernel, orphan_seconds) if relayed else kernel


async def adopt(
    id: str, run: str | None = None, *, relayed: bool = False, orphan_seconds: float = ORPHAN_SECONDS
) -> Kernel:
    """Go on with a kernel that is alive and that nobody uses any more; with `run`, if no other has used it since."""
    from .process import local_kernel

    kernel = await local_kernel.adopt(id, run)
    return await local_kernel.with_relay(kernel, orphan_seconds) if relayed else kernel


async def adopt_served(where: str, log: LogId, actor: ActorId | None = None) -> AdoptedKernel | None:
    """The kernel on this machine that serves a notebook of the workspace at `where`, as `actor` or as anybody.

    Conflict while a living runtime uses it; None when there is none.
    """
    from .process import adopt

    return await adopt.adopt_served(where, log, actor)


def served(where: str, actor: ActorId | None = None) -> list[LogId]:
    """The notebooks of the workspace at `where` for which there is a kernel on this machine, used or left alone."""
    from .process import adopt

    return adopt.served(where, actor)
