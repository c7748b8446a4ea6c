"""A kernel in a process on this machine.

It gets a session and a process group of its own, so that the terminal's Ctrl-C does not reach
it and all that it started ends with it. It outlives the process that uses it by a grace:
watchdog.py, started beside it, sees to that.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ...core.errors import BadInput, Conflict, NotFound, Unavailable
from ...core.ids import ActorId, LogId
from ...workspace.log.process_id import began
from ..kernel_environment import isolated_python, kernel_environment
from ..kernel_protocol import KEEP_SECONDS, KernelChannel, Spec
from ..relay import relay_client
from ..transport.jupyter_wire import Channels, ReceivedMessage
from . import prestart, watchdog
from .connection_dir import (
    CONNECTION,
    Serves,
    all_folders,
    connection_of,
    hash_of,
    lock_of,
    new_folder,
    remove,
    write_connection,
    write_serves,
)
from .exit_status import MemoryWatch, ProcessExit, ProcessHandle, kill_group

ADOPT_SECONDS = 3.0
"""How long to try to take over a kernel before it counts as in use by somebody else."""
MOST_PRINTED = 16_384
"""Bytes that are kept of what a kernel prints past Jupyter: why it could not start."""
ABOUT = "about.json"
_USED_BY = "run"
"""The file that says which run has used it last."""


class KernelRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What the next process has to know to go on with a kernel."""

    pid: int
    began: str
    """Tells the process from a later one with the same number."""
    spec: Spec

    @property
    def lives(self) -> bool:
        """Whether the kernel is there."""
        return began(self.pid) == self.began


def start(spec: Spec, cwd: Path, env: Mapping[str, str], grace_seconds: float) -> LocalKernel:
    """Start a process. Returns before it can be talked to."""
    if not cwd.is_dir():
        raise BadInput(f"{cwd} is no folder: a kernel cannot work there. Make it, or name another.")
    folder = new_folder()
    with contextlib.ExitStack() as undo:
        undo.callback(remove, folder)
        lock = lock_of(folder)
        undo.callback(os.close, lock)
        connection = write_connection(folder, spec)
        memory = MemoryWatch()
        process, reading = _spawn(spec, cwd, env, folder / CONNECTION)
        undo.callback(os.close, reading)
        undo.callback(kill_group, process.pid)
        about = KernelRecord(pid=process.pid, began=began(process.pid), spec=spec)
        (folder / ABOUT).write_bytes(msgspec.json.encode(about))
        watcher = _spawn_watcher(folder, about, grace_seconds, reading)
        undo.pop_all()
    kernel = LocalKernel(folder, about, connection, lock, memory)
    kernel.is_child(process, watcher, reading)
    return kernel


async def with_relay(kernel: LocalKernel, orphan_seconds: float) -> LocalKernel:
    """The same kernel with a relay beside it, or none."""
    try:
        kernel.start_relay(orphan_seconds)
    except BaseException:
        await kernel.close()
        raise
    return kernel


async def adopt(id: str, run: str | None = None) -> LocalKernel:
    """Go on with a kernel whose process is alive and which nobody uses any more; with `run`, if it used it last."""
    deadline = time.monotonic() + ADOPT_SECONDS
    while time.monotonic() < deadline:
        found = _adopt(id, run)
        if found is not None:
            return found
        # Either somebody else uses it, or watchdog.py looks whether anybody does: that takes no time, but on a busy
        # machine it may have to wait for its turn with the lock in its hand.
        await asyncio.sleep(0.01)
    raise Conflict(f"Kernel {id} is in use by another process. Wait for its end, or stop that one.")


def _adopt(id: str, run: str | None) -> LocalKernel | None:
    # The id may come from a log that somebody else wrote: it names a folder and no path.
    gone = NotFound(f"Kernel {id!r} is gone, and with it what its cells had defined.")
    if not id.isalnum():
        raise gone
    folder = all_folders() / id
    try:
        about = msgspec.json.decode((folder / ABOUT).read_bytes(), type=KernelRecord)
        connection = connection_of(folder)
        lock = lock_of(folder)
    except BlockingIOError:
        return None
    except (OSError, ValueError):
        raise gone from None
    if not about.lives:
        os.close(lock)
        raise gone
    if run is not None and (other := _user(folder)) not in (None, run):
        os.close(lock)
        raise Conflict(f"Kernel {id} has gone on with run {other}, and is not as run {run} left it. Resume that one.")
    (folder / watchdog.KEPT).unlink(missing_ok=True)
    return LocalKernel(folder, about, connection, lock, MemoryWatch(about.pid))


def _user(folder: Path) -> str | None:
    """The run that has used a kernel last."""
    try:
        return (folder / _USED_BY).read_text()
    except OSError:
        return None


class LocalKernel:
    """A kernel in a process on this machine."""

    def __init__(
        self,
        folder: Path,
        about: KernelRecord,
        connection: dict[str, Any],
        lock: int,
        memory: MemoryWatch,
        *,
        lives: bool = True,
    ) -> None:
        self.id = folder.name
        self.spec = about.spec
        self.connection = connection
        self.pid = about.pid
        self._folder = folder
        self._lock = lock
        self._memory = memory
        self._is_closed = False
        self._line: relay_client.RelayLink | None = None
        self._relay: subprocess.Popen[bytes] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._watcher: subprocess.Popen[bytes] | None = None
        self._pipe: int | None = None
        self._printed = bytearray()
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[ProcessExit] = self._loop.create_future()
        self._handle: ProcessHandle | None = None
        if lives:
            self._handle = ProcessHandle(self._loop, self.pid, self._end)
        else:
            self._ended.set_result(ProcessExit())

    def is_child(self, process: subprocess.Popen[bytes], watcher: subprocess.Popen[bytes], pipe: int) -> None:
        """Take the processes that this one started, and the pipe that the kernel prints into."""
        self._process, self._watcher, self._pipe = process, watcher, pipe
        os.set_blocking(pipe, False)
        self._loop.add_reader(pipe, self._read)

    def start_relay(self, orphan_seconds: float) -> None:
        """Have a relay beside it from now on."""
        printed = -1 if self._pipe is None else self._pipe
        beside = relay_client.RelayTarget(
            self._folder, self.pid, self.connection, self.spec.is_ours, self._lock, printed
        )
        process, line = relay_client.start(beside, orphan_seconds)
        self.is_relayed(line, process)

    def is_relayed(self, line: relay_client.RelayLink, process: subprocess.Popen[bytes] | None = None) -> None:
        """Take the line to its relay, which this process may have started. The lock is the relay's."""
        self._line, self._relay = line, process
        self._let_go_of_lock()

    @property
    def printed(self) -> str:
        """The end of what it printed past Jupyter."""
        self._read()
        return self._printed.decode("utf-8", "replace")

    def _read(self) -> None:
        """Take what was printed, and keep the end of it."""
        if self._pipe is None:
            return
        with contextlib.suppress(BlockingIOError):
            data = os.read(self._pipe, 1 << 16)
            self._printed += data
            del self._printed[:-MOST_PRINTED]
            if not data:
                self._close_pipe()

    def _close_pipe(self) -> None:
        if self._pipe is not None:
            self._loop.remove_reader(self._pipe)
            os.close(self._pipe)
            self._pipe = None

    def _end(self) -> None:
        # As long as nobody has asked how it ended, its number is not used again: these are its own children.
        kill_group(self.pid)
        self._read()
        if not self._ended.done():
            self._ended.set_result(self._how())

    def _how(self) -> ProcessExit:
        if self._process is None:
            # Nobody told us; but of a kernel that is gone when the system ran out of memory one can guess.
            return ProcessExit(out_of_memory=self._memory.killed())
        code = self._process.wait()
        if code >= 0:
            return ProcessExit(status=code)
        return ProcessExit(signal=-code, out_of_memory=-code == signal.SIGKILL and self._memory.killed())

    def open(self, hear: Callable[[ReceivedMessage], None]) -> KernelChannel:
        """Begin to talk to it."""
        if self._line is not None:
            return relay_client.RelayedConversation(self._line, self.connection, hear, kernel_waits=self.spec.is_ours)
        return Channels(self.connection, hear, kernel_waits=self.spec.is_ours)

    def serves(self, where: str, log: LogId, actor: ActorId) -> None:
        """Keep in mind what it is used for."""
        write_serves(self._folder, Serves(workspace=hash_of(where), log=log, actor=actor))

    def used_by(self, run: str) -> None:
        """Keep in mind which run has changed its state last."""
        (self._folder / _USED_BY).write_text(run)

    async def interrupt(self) -> None:
        """Send SIGINT to it and to what it started."""
        if not self._ended.done():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGINT)

    async def kill(self) -> None:
        """Send SIGKILL to it and to what it started, and wait until it is gone."""
        if not self._ended.done():
            kill_group(self.pid)
        await self.ended()

    async def ended(self) -> ProcessExit:
        """Wait until it is gone, and say how."""
        return await asyncio.shield(self._ended)

    async def leave(self, seconds: float = KEEP_SECONDS) -> None:
        """Let it live on, for so long if nobody uses it. Its folder goes when it does."""
        (self._folder / watchdog.KEPT).write_text(str(seconds))
        if self._line is not None:
            await self._line.goodbye(keep=True)
        self._wait_for_relay()
        for process in (self._process, self._watcher):
            if process is not None and process.poll() is None:
                # Nobody here waits for it any more.
                process.returncode = 0
        self._let_go()

    async def close(self) -> None:
        """End it, and remove all trace of it."""
        if self._is_closed:
            return
        await self.kill()
        if self._line is not None:
            await self._line.goodbye(keep=False)
        self._wait_for_relay()
        if self._watcher is not None:
            self._watcher.kill()
            self._watcher.wait()
        remove(self._folder)
        self._let_go()

    def _wait_for_relay(self) -> None:
        if self._relay is not None:
            # It has hung up: it is over, or will never be.
            self._relay.kill()
            self._relay.wait()

    def _let_go(self) -> None:
        self._is_closed = True
        if self._handle is not None:
            self._handle.close()
        self._close_pipe()
        self._let_go_of_lock()

    def _let_go_of_lock(self) -> None:
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def _spawn(spec: Spec, cwd: Path, env: Mapping[str, str], connection_file: Path) -> tuple[subprocess.Popen[bytes], int]:
    """The process, and the pipe that it prints into."""
    argv = [part.replace("{connection_file}", str(connection_file)) for part in spec.argv]
    variables = kernel_environment(dict(env) | spec.env)
    if (found := prestart.take(argv, variables, cwd)) is not None:
        return found.process, found.reading
    reading, writing = os.pipe()
    try:
        process = subprocess.Popen(  # noqa: S603 - the kernel that the notebook or the user names
            argv,
            cwd=cwd,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=writing,
            # Out of reach of the terminal's Ctrl-C, and a group of its own to signal.
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        os.close(reading)
        said = error.strerror if isinstance(error, OSError) else error
        raise Unavailable(f"Kernel {spec.name!r} cannot start: {argv[0]}: {said}.") from error
    finally:
        os.close(writing)
    return process, reading


def _spawn_watcher(folder: Path, about: KernelRecord, grace_seconds: float, reading: int) -> subprocess.Popen[bytes]:
    # Earlier than promised: what it takes on a busy machine comes on top.
    seconds = grace_seconds * 0.8
    began = about.began if sys.platform == "linux" else ""
    return subprocess.Popen(  # noqa: S603 - ourselves, or a program of the system that becomes us
        [
            *_until_free(folder),
            *isolated_python(watchdog.__file__, str(folder), str(about.pid), str(seconds), str(reading), began),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(reading,),
        cwd="/",
        env=kernel_environment(os.environ),
        start_new_session=True,
    )


def _until_free(folder: Path) -> list[str]:
    """What waits for the lock in a tenth of a megabyte, and then becomes the program that follows: `flock`, where there is one."""
    program = _flock()
    return [program, "--no-fork", str(folder / watchdog.LOCK)] if program is not None else []


@functools.cache
def _flock() -> str | None:
    """The system's `flock`, if it is one that can become another program."""
    if sys.platform != "linux" or (program := shutil.which("flock", path="/usr/bin:/bin")) is None:
        return None
    tried = subprocess.run(  # noqa: S603 - a program of the system
        [program, "--no-fork", "--shared", "/dev/null", "true"], capture_output=True, check=False, env={}, cwd="/"
    )
    return program if tried.returncode == 0 else None
