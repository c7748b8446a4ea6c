"""A runtime that needs no Jupyter kernel: it runs cells in SQL, in SQLite, and speaks the runtime protocol itself.

    export QUIRE_TOKEN=$(quire token new --actor runtime:shop --scope read,serve --notebooks sales)
    python sqlite_runtime.py http://127.0.0.1:8765 sales shop.db

It runs what is asked of `sqlite` by name. docs/reference/runtime-protocol.md says why each step is as it is.
Of Quire it imports nothing: the same can be written in any language.
"""

import asyncio
import json
import os
import signal
import sqlite3
import sys
from contextlib import suppress
from hashlib import sha256
from itertools import chain, repeat
from typing import Any
from uuid import uuid4

import httpx
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

NAME, LANGUAGE = "sqlite", "sql"
TICK_SECONDS = 0.1  # how often what a cell printed is sent
LEASE_SECONDS, RENEW_SECONDS = 180, 10  # so the network may be away for three minutes
INLINE = 65_536  # a longer text is a blob
Event = dict[str, Any]


class Refused(Exception):
    """The server said no. To ask again changes nothing."""


class Runtime:
    """One notebook, one database, one cell at a time."""

    def __init__(self, http: httpx.AsyncClient, database: str) -> None:
        self.http, self.me, self.log = http, "", ""
        self.database = sqlite3.connect(database, check_same_thread=False, isolation_level=None)
        self.database.set_progress_handler(lambda: self.is_stopped, 10_000)
        self.running, self.is_stopped, self.is_over = "", False, False
        self.rows: list[str] = []
        self.seen, self.news = 0, asyncio.Event()

    # ---- The server

    async def ask(self, method: str, path: str, **body: Any) -> Any:
        """Ask until there is an answer. What was recorded though the answer was lost has the same ids: it counts once."""
        for pause in chain((0.1, 0.3, 1, 3), repeat(5)):
            with suppress(httpx.TransportError):
                answer = await self.http.request(method, path, **body)
                if answer.is_success:
                    return answer.json() if answer.content else None
                if answer.status_code not in (429, 502, 503, 504):
                    raise Refused(answer.text)
            await asyncio.sleep(pause)

    async def submit(self, *events: Event) -> list[Any]:
        """Record events, in this order, all or none."""
        drafts = [{"id": uuid4().hex, "event": event} for event in events]
        return (await self.ask("POST", f"/api/logs/{self.log}/events", json={"drafts": drafts}))["entries"]

    async def follow(self) -> None:
        """Hear what happens, from the last number on, whatever becomes of the connection."""
        address = str(self.http.base_url).rstrip("/").replace("http", "ws", 1) + "/api/socket"
        headers = {"Authorization": self.http.headers["Authorization"]}
        async for socket in connect(address, additional_headers=headers, max_size=64 << 20):
            with suppress(ConnectionClosed):
                await socket.send(json.dumps({"type": "follow", "id": "1", "log": self.log, "since": self.seen}))
                async for frame in socket:
                    for entry in json.loads(frame).get("entries", ()):
                        self.hear(entry["seq"], entry["event"])

    def hear(self, seq: int, event: Event) -> None:
        """Stop when somebody wants that; look for work otherwise."""
        self.seen = seq
        if event["type"] == "interrupt_requested" and event["execution"] == self.running:
            self.is_stopped = True
        self.news.set()

    # ---- One execution after the other

    async def attach(self, notebook: str) -> None:
        """Say that somebody is there for what is asked of this name, or of this language."""
        self.me = (await self.ask("GET", "/api/me"))["actor"]
        self.log = (await self.ask("GET", f"/api/logs/{notebook}"))["log"]
        await self.submit({"type": "runtime_attached", "runtime": self.me, "name": NAME, "language": LANGUAGE})

    async def serve(self) -> None:
        """Take what is asked for, in the order in which it was."""
        while not self.is_over:
            self.news.clear()
            if not await self.run_next():
                await self.news.wait()
        await self.submit({"type": "runtime_detached", "runtime": self.me})

    def end(self) -> None:
        """Stop what runs, and take nothing more."""
        self.is_over = self.is_stopped = True
        self.news.set()

    async def run_next(self) -> bool:
        """Run the first that waits; whether there was one."""
        notebook = await self.ask("GET", f"/api/notebooks/{self.log}")
        for cell in (notebook["cells"][id] for id in notebook.get("executions", {}).values()):
            for left in filter(None, (cell.get("execution"), cell.get("queued"))):
                if left["state"] in ("claimed", "running") and left["runtime"] == self.me:
                    # Of a process before this one: nobody knows how far it came. It is not run again.
                    lost = {"execution": left["id"], "epoch": left["epoch"], "status": "lost"}
                    await self.submit({"type": "execution_finished", **lost})
            waiting = cell.get("queued", {})
            is_ready = waiting.get("state") == "queued" and waiting.get("needs") not in notebook["executions"]
            if is_ready and waiting.get("wants") in (self.me, NAME, LANGUAGE):
                try:
                    await self.run(waiting, cell["source"])
                    return True
                except Refused as no:  # somebody was first, or it is ours no longer
                    print(waiting["id"], no, file=sys.stderr)
        return False

    async def run(self, waiting: Event, source: str) -> None:
        """Claim, say that it started, send what it prints while it runs, say how it ended."""
        what = {"execution": waiting["id"], "cell": waiting["cell"]}
        moved = sha256(source.encode()).hexdigest() != waiting["source_hash"]
        if moved or waiting.get("blocked"):
            why = (
                "Its source changed after it was asked for. Ask again." if moved else "What it needs did not end well."
            )
            await self.submit({"type": "execution_skipped", **what, "why": why})
            return
        self.running, self.is_stopped, self.rows = waiting["id"], self.is_over, []
        claimed = await self.submit({"type": "execution_claimed", "execution": self.running, "runtime": self.me})
        claim = claimed[0]["event"]
        about = {"execution": self.running, "epoch": claim["epoch"]}
        holding = asyncio.create_task(self.hold(claim))
        try:
            await self.submit({"type": "execution_started", **about, **what, "source_hash": waiting["source_hash"]})
            await self.submit(*await self.execute(source, about))
        finally:
            self.is_stopped = True
            holding.cancel()
        await self.ask("POST", f"/api/logs/{self.log}/release", json={"claim": claim})

    async def hold(self, claim: Event) -> None:
        """Keep the claim. Once it is lost, so is the work."""
        with suppress(Refused):
            while True:
                await self.ask("POST", f"/api/logs/{self.log}/renew", json={"claim": claim, "seconds": LEASE_SECONDS})
                await asyncio.sleep(RENEW_SECONDS)
        self.is_stopped = True

    async def show(self, working: asyncio.Task[Any], about: Event) -> int:
        """Send what is printed as it comes; return how many pieces it was."""
        chunk, sent, is_over = 0, 0, False
        while not is_over:
            await asyncio.wait({working}, timeout=TICK_SECONDS)
            is_over = working.done()  # asked first: then nothing is printed after the look
            text = "".join(self.rows)
            is_long = len(text) > INLINE
            if len(text) > sent and (is_over or not is_long):
                # The whole of a long text is a blob, kept once, at the end; beside it stands the last of it.
                offset = max(sent, len(text) - INLINE // 2) if is_long else sent
                piece: Event = {"chunk": chunk, "name": "stdout", "offset": offset, "text": text[offset:]}
                if is_long:
                    media = {"media": "text/plain"}
                    piece["blob"] = await self.ask("POST", "/api/blobs", params=media, content=text.encode())
                await self.submit({"type": "stream_appended", **about, **piece})
                chunk, sent = chunk + 1, len(text)
        return chunk

    async def execute(self, source: str, about: Event) -> list[Event]:
        """Run it; return the events that end it."""
        working = asyncio.create_task(asyncio.to_thread(self.query, source))
        try:
            chunk = await self.show(working, about)
        finally:
            self.is_stopped |= not working.done()  # what is ours no longer is not left running beside the next
            error = await working
        if error is None:
            return [{"type": "execution_finished", **about, "status": "ok"}]
        fault = {"ename": type(error).__name__, "evalue": str(error)}
        shown = {"type": "output_added", **about, "chunk": chunk, "output": {"kind": "error", **fault}}
        status = "cancelled" if self.is_stopped else "error"
        return [shown, {"type": "execution_finished", **about, "status": status, "fault": fault}]

    def query(self, source: str) -> sqlite3.Error | None:
        """Run the statements and print their rows, in a thread of its own: whatever it takes, the rest goes on."""
        try:
            for statement in source.split(";\n"):
                for row in self.database.execute(statement):
                    self.rows.append(" | ".join(map(str, row)) + "\n")
        except sqlite3.Error as error:
            return error
        return None


async def main(url: str, notebook: str, database: str) -> None:
    """Serve a notebook until somebody sends SIGTERM or presses Ctrl-C."""
    headers = {"Authorization": f"Bearer {os.environ['QUIRE_TOKEN']}"}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=30) as http, asyncio.TaskGroup() as group:
        runtime = Runtime(http, database)
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, runtime.end)
        await runtime.attach(notebook)
        following = group.create_task(runtime.follow())
        await runtime.serve()
        following.cancel()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
