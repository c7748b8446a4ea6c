"""Starts ipykernel in the interpreter of a notebook, where Quire need not be installed.

It differs from `python -m ipykernel_launcher` in this:

- Outputs wait for a client that is slow, and come in pieces that it can hold. A stock kernel
  throws away what was not taken in time, and makes one message of all that was printed
  meanwhile, however long.
- What other processes and libraries in C print belongs to the cell that ran when they did. A
  stock kernel reads it in a thread, at leisure, and cuts characters in two.
- Half of a surrogate pair in an output or an error travels escaped. A stock kernel loses the
  message, and with it the end of the cell.
- IPython's copy of all outputs, for its own export of notebooks, is not kept: a cell that prints
  a gigabyte would hold on to one.
- Less is done for each cell: headers are written once, no log line that nobody sees, and no
  thread between the client and the one shell that it uses.
- It starts a third sooner, without debugpy: a kernel of ours has no debugger in it. A cell
  may import debugpy as ever.

Written for Python 3.8 and ipykernel 6 onwards; imports only what ipykernel brings along.
"""

import sys

# The folder of this file, as the first place to import from, would hide modules of others. With -P it is not there.
if sys.path and sys.path[0] == __file__.rpartition("/")[0]:
    del sys.path[0]

import codecs
import contextlib
import gc
import importlib
import importlib.machinery
import importlib.util
import json
import os
import select
import signal
import threading
from typing import TYPE_CHECKING, Any, Callable, Dict, Generator, List, Optional, cast  # noqa: UP035 - Python 3.8

if TYPE_CHECKING:
    import asyncio

# ipykernel does without what cannot be imported.
cast("dict[str, Any]", sys.modules)["debugpy"] = None
importlib.import_module("ipykernel.debugger")
del sys.modules["debugpy"]

import zmq  # noqa: E402
from ipykernel.iostream import OutStream  # noqa: E402
from ipykernel.kernelapp import IPKernelApp  # noqa: E402

MOST_MESSAGES = 50
"""Messages that wait in the kernel for a slow client; after that, whoever prints waits."""
MOST_BYTES = 8_000_000
"""Bytes that wait there to become such messages; after that, whoever shows something waits, too."""
LOOK_SECONDS = 1.0
"""How often whoever waits looks whether the thread that sends is still there."""
MOST_HEADERS = 8
"""Headers that are remembered as they were sent."""
MOST_TEXT = 1_000_000
"""Code points of one message of a stream."""


class PatientStream(OutStream):
    """What is printed, in messages of a bounded size."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self._held = 0
        self._taking = threading.Lock()
        self._known: Any = None
        self._is_forked = False
        self._renew()
        os.register_at_fork(after_in_child=self._begin_anew)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        # Starts a thread that uses all of these.
        super().__init__(*args, **options)  # pyright: ignore[reportUnknownMemberType] - untyped there

    def write(self, string: str) -> Optional[int]:  # noqa: UP045 - Python 3.8
        """Take `string`; wait for the client once too much is held."""
        # What is no text is refused further down.
        if len(string) <= MOST_TEXT:
            return self._write_piece(string)
        for start in range(0, len(string), MOST_TEXT):
            self._write_piece(string[start : start + MOST_TEXT])
        return len(string)

    def _write_piece(self, string: str) -> Optional[int]:  # noqa: UP045 - Python 3.8
        if self._held + len(string) > MOST_TEXT:
            self._send()
        stock: Any = self  # untyped there
        known, parent = self._known, stock.parent_header
        if known is not None and known[0] is parent and type(string) is str and stock.pub_thread is not None:
            taken = self._write_quickly(string, known[1])
        else:
            taken = super().write(string)
            self._remember(parent)
        # After it, for the thread that sends sets this back at any time: too much of it is one flush too many,
        # too little would be one too few.
        self._held += len(string)
        return taken

    def _write_quickly(self, string: str, key: Any) -> int:
        """What a stock kernel does, but for looking up each time of which cell it is: that takes most of its time."""
        stock: Any = self
        with stock._buffer_lock:
            stock._buffers[key].write(string)
        if not self._flush_pending:
            self._schedule_flush()
        return len(string)

    def _remember(self, parent: Any) -> None:
        """Keep in mind under what the texts of this cell are gathered, by an ipykernel that keeps cells apart."""
        stock: Any = self
        is_stock = isinstance(getattr(self, "_buffers", None), dict) and stock.echo is None and not self._is_forked
        self._known = (parent, frozenset(parent.items())) if is_stock else None

    def flush(self) -> None:
        """Send all that was printed up to now, and wait until it is on its way."""
        if self._should_watch and self._is_master_process():
            self._take_descriptor()
        self._send()

    def _begin_anew(self) -> None:
        """In a process that was forked: it passes on what it prints in another way."""
        self._is_forked, self._known = True, None
        self._renew()

    def _renew(self) -> None:
        # Whoever held it is not in a process that was forked meanwhile.
        self._passing_on = threading.RLock()

    def _send(self) -> None:
        with self._passing_on:
            if not self._held:
                return
            self._flush()
        sender: Any = self.pub_thread
        if sender is not None and sender.thread.is_alive() and sender.thread is not threading.current_thread():
            sent = threading.Event()
            sender.schedule(sent.set)
            sent.wait(self.flush_timeout)

    def _flush(self) -> None:
        # Both the thread that prints and the one that sends do this. One that has taken the text, and not put it in
        # the queue yet, would be overtaken by what is printed next, or by the word that the cell is over.
        sender: Any = self.pub_thread
        is_sender = sender is not None and sender.thread is threading.current_thread()
        if not self._passing_on.acquire(blocking=not is_sender):
            # The one that sends may not wait for one that may wait for it: that one passes all of it on. Look again later.
            self._flush_pending = False
            self._schedule_flush()
            return
        try:
            self._held = 0
            super()._flush()
        finally:
            self._passing_on.release()

    def _watch_pipe_fd(self) -> None:
        """Take what other processes and libraries in C print. Runs in a thread of its own."""
        while select.select([cast("int", self._fid)], [], []) and self._should_watch:
            self._take_descriptor()

    def _take_descriptor(self) -> None:
        # Whoever flushes takes as well: at the end of a cell, what it printed is in, thread or no thread.
        descriptor = cast("int", self._fid)
        with self._taking:
            while select.select([descriptor], [], [], 0)[0]:
                self.write(self._decoder.decode(os.read(descriptor, 1 << 16)))


def packing(pack: "Callable[[Any], bytes]") -> "Callable[[Any], bytes]":
    """Let `pack` write what cannot be UTF-8 as well, and each header once: all messages of a cell carry its request's."""
    known: list[tuple[Any, bytes]] = []

    def pack_all(value: Any) -> bytes:
        is_header = "msg_id" in value
        if is_header:
            for header, packed in known:
                if header is value:
                    return packed
        try:
            packed = pack(value)
        except UnicodeEncodeError:
            packed = json.dumps(value, default=str).encode()
        if is_header:
            known.append((value, packed))
            del known[:-MOST_HEADERS]
        return packed

    return pack_all


def remembering(accepts: "Callable[[Any, Any], Any]") -> "Callable[[Any, Any], Any]":
    """What a method accepts is asked before each cell, and looked up in its signature: once will do."""
    known: dict[Any, Any] = {}

    def accepts_once(method: Any, names: Any) -> Any:
        key = (getattr(method, "__func__", method), *names)
        if key not in known:
            known[key] = accepts(method, names)
        return known[key]

    return accepts_once


class Forgetful(Dict[int, List[Any]]):  # noqa: UP006 - Python 3.8
    """Takes outputs by the number of their cell, and drops them."""

    def __missing__(self, key: int) -> "list[Any]":
        return []


class OutputGate:
    """Holds back whoever shows something while too much waits for the thread that sends: its own list has no end."""

    def __init__(self, sender: Any, is_spared: "Callable[[], bool]") -> None:
        self._sender, self._is_spared = sender, is_spared
        self._send_now = sender._really_send
        self._renew()
        os.register_at_fork(after_in_child=self._renew)
        sender.send_multipart = self._send

    def _renew(self) -> None:
        # Whoever held it is not in a process that was forked meanwhile, nor is what waited.
        self._room, self._waiting = threading.Condition(), 0

    def _send(self, parts: Any, *args: Any, **options: Any) -> None:
        size = sum(map(len, parts))
        with self._room:
            while self._waiting > MOST_BYTES and not self._is_spared() and self._sender.thread.is_alive():
                self._room.wait(LOOK_SECONDS)
            self._waiting += size

        def send() -> None:
            try:
                self._send_now(parts, *args, **options)
            finally:
                with self._room:
                    self._waiting -= size
                    self._room.notify_all()

        self._sender.schedule(send)


class PatientKernelApp(IPKernelApp):
    """ipykernel, whose outputs wait instead of getting lost."""

    def init_iopub(self, context: Any) -> None:
        """Make the socket for outputs, on which a send waits for room."""
        session: Any = self.session
        session.pack = packing(session.pack)
        # Options of a context become those of the sockets made from it.
        before = dict(context.sockopts)
        context.setsockopt(zmq.XPUB_NODROP, 1)
        context.setsockopt(zmq.SNDHWM, MOST_MESSAGES)
        super().init_iopub(context)  # pyright: ignore[reportUnknownMemberType] - untyped there
        context.sockopts.clear()
        context.sockopts.update(before)
        if hasattr(self.iopub_thread, "_really_send"):
            OutputGate(self.iopub_thread, self._is_spared)

    def _is_spared(self) -> bool:
        """Whether this thread has to go on: the one that sends, and the one that is told to interrupt or to end."""
        spared = (self.iopub_thread.thread, getattr(self, "control_thread", None))
        return threading.current_thread() in spared

    def init_control(self, context: Any) -> None:
        """Make what hears requests: the thread that runs cells, and no other between it and the client."""
        super().init_control(context)  # pyright: ignore[reportUnknownMemberType] - untyped there
        if hasattr(self, "shell_channel_thread"):
            # It would pass each cell on to one of several shells, of which we use one.
            self.shell_channel_thread = None

    def init_kernel(self) -> None:
        """Make the kernel, which asks for the thread that it does not have as soon as a cell awaits (ipykernel 7.4)."""
        super().init_kernel()  # pyright: ignore[reportUnknownMemberType] - untyped there
        kernel = cast("Any", self).kernel
        kernel.__class__ = with_awake_loop(kernel.__class__)
        if getattr(kernel, "shell_channel_thread", self) is None:
            kernel.__class__ = with_one_shell(kernel.__class__)
            kernel.shell_channel_thread = NoShellThread()

    def init_path(self) -> None:
        """Leave the folder that the kernel works in for later: all that begins the kernel is installed, or Python's own."""

    def init_code(self) -> None:
        """Let the user's own code, from here on, import modules that are beside the notebook."""
        super().init_path()
        super().init_code()

    def init_shell(self) -> None:
        """Make the shell, which is not to remember what it showed."""
        super().init_shell()
        shell: Any = self.shell
        shell.history_manager.outputs = Forgetful()
        if hasattr(shell, "_tee"):
            # It would take note of each text for that copy, which takes longer than to print it.
            shell._tee = untold
        shell.transform_cell = once(shell.transform_cell)
        # Nobody sees what is below the level: then it need not be put together, several times a cell.
        log: Any = self.log
        log.setLevel(max(log.getEffectiveLevel(), self.log_level))


class NoShellThread:
    """In the place of the thread that would choose a shell: cells run in the thread that hears of them."""

    def __init__(self) -> None:
        self.parent_thread = threading.current_thread()

    def __bool__(self) -> bool:
        return False


def with_one_shell(kernel: type) -> type:
    """Return a kernel's class for one that has no other shells, whatever stands in the place of their thread."""
    return type(kernel.__name__, (kernel,), {"_supports_kernel_subshells": False})


def with_awake_loop(kernel: type) -> type:
    """Return a kernel's class whose cells that await end when they are interrupted, not when what they await does.

    A stock kernel has its loop cancel the cell by a callback. Tornado 6.5 queues that without waking the loop, because the
    signal is handled in the thread of the loop itself, which sleeps on.
    """
    return type(kernel.__name__, (kernel,), {"_cancel_on_sigint": cancelling})


@contextlib.contextmanager
def cancelling(kernel: Any, future: "asyncio.Future[Any]") -> "Generator[None, None, None]":
    """Cancel what a cell awaits at SIGINT."""
    loop = future.get_loop()

    def cancel(*_: Any) -> None:
        loop.call_soon_threadsafe(future.cancel)

    before = signal.signal(signal.SIGINT, cancel)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def untold(channel: str) -> "contextlib.nullcontext[None]":
    """Take no note of what is printed."""
    return contextlib.nullcontext()


def wait_for_order() -> None:
    """Become what whoever started this process asks for, on its standard input; end with them if they ask nothing."""
    line = sys.stdin.buffer.readline()
    if not line:
        sys.exit(0)
    order = json.loads(line)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.environ.clear()
    os.environ.update(order["env"])
    os.chdir(order["cwd"])
    sys.argv[:] = order["argv"]


def once(transform: "Callable[[str], str]") -> "Callable[[str], str]":
    """What IPython does to the text of a cell is done twice for each: the second time, the first will do."""
    known: list[tuple[str, str]] = []

    def transform_once(raw_cell: str) -> str:
        if known and known[0][0] == raw_cell:
            return known.pop()[1]
        transformed = transform(raw_cell)
        known[:] = [(raw_cell, transformed)]
        return transformed

    return transform_once


def load_installed(name: str) -> None:
    """Load a module from where packages are, not from the folder that the kernel works in, if it is not loaded yet."""
    folders = [folder for folder in sys.path if folder not in ("", os.getcwd())]  # noqa: PTH109 - Python 3.8, quickly
    spec = importlib.machinery.PathFinder.find_spec(name, folders)
    if name not in sys.modules and spec is not None and spec.loader is not None:
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])


if __name__ == "__main__":
    if sys.argv[1:] == ["--wait-for-order"]:
        wait_for_order()
    # All that was imported stays: the collector need not go through it again and again.
    gc.freeze()
    ipkernel: Any = importlib.import_module("ipykernel.ipkernel")
    if hasattr(ipkernel, "_accepts_parameters"):
        ipkernel._accepts_parameters = remembering(ipkernel._accepts_parameters)
    kernelbase: Any = importlib.import_module("ipykernel.kernelbase")
    if hasattr(kernelbase, "_get_psutil"):
        # It is loaded when the kernel ends or is interrupted: what stands beside the notebook is not meant.
        find_psutil: Any = kernelbase._get_psutil
        kernelbase._get_psutil = lambda: (load_installed("psutil"), find_psutil())[1]
    # Some libraries tell a notebook by this name.
    sys.argv[0] = sys.argv[0].replace("launch.py", "ipykernel_launcher.py")
    PatientKernelApp.launch_instance(outstream_class="__main__.PatientStream")
