"""One implementation, two ways to call it: awaited, or blocking.

What people hold is written once, with coroutines as methods. In a class that inherits `AsyncFace` a method gives its
coroutine to whoever awaits it; in one that inherits `BlockingFace` it runs the coroutine on the loop of a thread of its own,
waits for it and returns its result. That also works where a loop runs already, as in Jupyter.

Inside a coroutine only what is not a `Method` is called: on the loop's own thread nobody can wait for the loop.
"""

from __future__ import annotations

import asyncio
import atexit
import functools
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Coroutine, Generator, Iterator
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

P = ParamSpec("P")
T = TypeVar("T")

END_SECONDS = 2.0
"""How long the end of the interpreter waits for what is still open."""


class AsyncFace:
    """Methods are awaited, in the caller's loop."""


class BlockingFace:
    """Methods return when they are done."""


class Method(Generic[P, T]):
    """A coroutine as a method: awaited or blocking, as the class has it."""

    def __init__(self, function: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]) -> None:
        self._function = self.__wrapped__ = function  # which `inspect` follows
        self.__name__, self.__doc__ = function.__name__, function.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: AsyncFace, owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    @overload
    def __get__(self, instance: BlockingFace, owner: type) -> Callable[P, T]: ...
    def __get__(self, instance: AsyncFace | BlockingFace | None, owner: type) -> Any:
        if instance is None:
            return self
        bound = MethodType(self._function, instance)
        if isinstance(instance, AsyncFace):
            return bound

        @functools.wraps(bound)
        def waits(*args: P.args, **kwargs: P.kwargs) -> T:
            return wait_for(bound(*args, **kwargs))

        return waits


class IteratorMethod(Generic[P, T]):
    """An asynchronous generator as a method: iterated with `async for` or with `for`, as the class has it."""

    def __init__(self, function: Callable[Concatenate[Any, P], AsyncGenerator[T]]) -> None:
        self._function = self.__wrapped__ = function  # which `inspect` follows
        self.__name__, self.__doc__ = function.__name__, function.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: AsyncFace, owner: type) -> Callable[P, AsyncIterator[T]]: ...
    @overload
    def __get__(self, instance: BlockingFace, owner: type) -> Callable[P, Iterator[T]]: ...
    def __get__(self, instance: AsyncFace | BlockingFace | None, owner: type) -> Any:
        if instance is None:
            return self
        bound = MethodType(self._function, instance)
        if isinstance(instance, AsyncFace):
            return bound

        @functools.wraps(bound)
        def iterates(*args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
            return _iterated(bound(*args, **kwargs))

        return iterates


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the loop of the thread, and return its result. Ctrl-C cancels it."""
    done = asyncio.run_coroutine_threadsafe(work, _loop_thread().loop)
    try:
        return done.result()
    except BaseException:
        done.cancel()
        raise


def _iterated(pages: AsyncGenerator[T]) -> Generator[T]:
    async def one() -> tuple[T] | None:
        try:
            return (await anext(pages),)
        except StopAsyncIteration:
            return None

    try:
        while (found := wait_for(one())) is not None:
            yield found[0]
    finally:
        if not _loop_thread().loop.is_closed():  # it is when the interpreter ends, and has closed the pages itself
            wait_for(pages.aclose())


class _LoopThread:
    """A loop in a thread of its own. The thread ends with the interpreter, and closes what is open then."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="quire.connection", daemon=True)
        self._thread.start()
        atexit.register(self._end)

    def _run(self) -> None:
        self.loop.run_forever()
        self.loop.run_until_complete(_cancel(asyncio.all_tasks(self.loop)))
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()

    def _end(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(END_SECONDS)


async def _cancel(tasks: Collection[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


_started: list[_LoopThread] = []
_starting = threading.Lock()


def _loop_thread() -> _LoopThread:
    """Return the thread whose loop runs blocking methods, from the first one on."""
    with _starting:
        if not _started:
            _started.append(_LoopThread())
        return _started[0]
