"""A bad line: a TCP proxy that cuts connections, at once or after so many bytes, and can lead elsewhere or nowhere."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Iterable, Iterator


class Relay:
    """Passes on what comes to a port of its own."""

    def __init__(self, target: int | None, cuts: Iterable[int] = ()) -> None:
        self.target = target
        """The port that it leads to; None: whoever connects is cut off."""
        self.port = 0
        self.passed = 0
        """How many bytes went through it, both ways."""
        self.connections = 0
        self.refused = 0
        """How many connections were cut off because it led nowhere."""
        self._cuts: Iterator[int] = iter(cuts)
        """After how many bytes each of the next connections is cut; those after them are not."""
        self._open: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def cut(self) -> None:
        """Cut all connections that there are."""
        for writer in list(self._open):
            writer.transport.abort()

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        self._open.add(writer)
        try:
            if self.target is None:
                self.refused += 1
            else:
                await self._pass_on(reader, writer, self.target)
        except (OSError, asyncio.CancelledError):
            pass  # asyncio would complain of the latter
        finally:
            writer.transport.abort()
            self._open.discard(writer)
            self._tasks.discard(task)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, target: int) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", target)
        self._open.add(back)
        left = [next(self._cuts, None)]
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._pump(reader, back, left))
                group.create_task(self._pump(there, writer, left))
        except* (OSError, EOFError):
            pass
        finally:
            back.transport.abort()
            self._open.discard(back)

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, left: list[int | None]) -> None:
        while data := await reader.read(65536):
            budget = left[0]
            data = data if budget is None else data[:budget]
            writer.write(data)
            await writer.drain()
            self.passed += len(data)
            if budget is not None:
                left[0] = budget - len(data)
                if left[0] <= 0:
                    break
        raise EOFError

    async def close(self) -> None:
        self.cut()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@contextlib.asynccontextmanager
async def relay(target: int | None, cuts: Iterable[int] = ()) -> AsyncGenerator[Relay]:
    made = Relay(target, cuts)
    server = await asyncio.start_server(made.accept, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()
        await made.close()
