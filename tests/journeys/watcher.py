"""Somebody who has a notebook open: everything that happens in it, as it arrives over the socket."""

from __future__ import annotations

import contextlib
import json
import threading

import msgspec
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect as connect_socket

from quire.core.events import Entry, Stream
from quire.core.notebook.notebook import Notebook
from quire.core.notebook.reduce import fold
from quire.workspace.wire import frames

from .server import Server


class Watcher:
    """Follows a log from its beginning, in a thread of its own."""

    def __init__(self, server: Server, secret: str, log: str, since: int = 0) -> None:
        self.entries: list[Entry] = []
        headers = {"Authorization": f"Bearer {secret}"}
        url = f"{server.url.replace('http', 'ws')}/api/socket"
        self._stack = contextlib.ExitStack()
        self._socket = self._stack.enter_context(connect_socket(url, additional_headers=headers, max_size=None))
        self.me: str = json.loads(self._socket.recv())["me"]["actor"]
        self._socket.send(json.dumps({"type": "follow", "id": "f", "log": log, "since": since}))
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with contextlib.suppress(ConnectionClosed):
            for text in self._socket:
                frame = msgspec.json.decode(text, type=frames.FromServer)
                assert isinstance(frame, frames.Events), frame
                self.entries += [frames.to_entry(entry) for entry in frame.entries]

    @property
    def numbers(self) -> list[int]:
        """The numbers of all that came."""
        return [entry.seq for entry in self.entries]

    @property
    def notebook(self) -> Notebook:
        """What it all comes to."""
        return fold(list(self.entries))

    def printed(self, execution: str) -> str:
        """What an execution has printed as far as is known here."""
        for cell in self.notebook.cells.values():
            if cell.execution is not None and cell.execution.id == execution:
                return "".join(each.head + each.tail for each in cell.execution.outputs if isinstance(each, Stream))
        return ""

    def close(self) -> None:
        self._stack.close()
        self._thread.join()
