"""Looking for a regular expression in a long text, line by line.

In a process of its own: an expression that never comes to an end holds up nobody else, and is
stopped. What is searched comes through a pipe, so that no more of it is in memory than a line.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, AsyncIterator

import msgspec

from ...core.errors import BadInput, Unavailable
from ...kernels.kernel_environment import isolated_python, kernel_environment

MOST_MATCHES = 50
LONGEST_LINE = 10_000
"""Longer lines are searched in parts."""
SECONDS = 10.0
_AT_ONCE = 2
_SHOWN = 240
_BLOCK = 256 * 1024
# Given as it is to a Python without site packages: one line of JSON for each match, then how many there were.
_PROGRAM = f"""
import io, json, re, sys
pattern, start = sys.argv[1], int(sys.argv[2])
try:
    search, literal = re.compile(pattern).search, False
except (re.error, OverflowError, RecursionError):
    pattern, literal = re.escape(pattern), True
    search = re.compile(pattern).search
# Many lines at once, where nothing in the pattern looks past the end of one: most blocks hold no match.
alone = re.search(r"\\\\[AZ]|\\(\\?", pattern) is not None
search_block = search if alone else re.compile(pattern, re.MULTILINE).search
text = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace", newline="\\n")
at = count = 0
more = None
while block := text.read({_BLOCK}) + text.readline({LONGEST_LINE}):
    if at + len(block) <= start or not (alone or search_block(block)):
        at += len(block)
        continue
    lines = io.StringIO(block, newline="\\n")
    while line := lines.readline({LONGEST_LINE}):
        if at + len(line) > start and (found := search(line, max(start - at, 0))) is not None:
            count += 1
            if count <= {MOST_MATCHES}:
                first = max(found.start() - {_SHOWN} // 3, 0) if len(line) > {_SHOWN} else 0
                shown = line[first:first + {_SHOWN}].rstrip("\\n")
                print(json.dumps([at + found.start(), shown, first > 0, first + {_SHOWN} < len(line)]), flush=True)
            elif more is None:
                more = at
        at += len(line)
print(json.dumps({{"count": count, "next": more, "literal": literal}}), flush=True)
"""


class Match(msgspec.Struct, frozen=True, array_like=True):
    """A line that matches, or the part of it around the place."""

    at: int
    line: str
    is_cut_before: bool = False
    is_cut_behind: bool = False


class Summary(msgspec.Struct, frozen=True):
    """How a search ended."""

    count: int
    next: int | None = None
    """Where the first line begins that matches and is not among the matches."""
    literal: bool = False
    """Whether it was no regular expression, and searched for as it is."""


class SearchPage(msgspec.Struct, frozen=True):
    """What was found."""

    matches: tuple[Match, ...]
    summary: Summary | None
    """None: it took too long, and this is what was found until then."""


async def search(pattern: str, text: AsyncIterator[str], start: int = 0) -> SearchPage:
    """Look for a pattern in the lines of a text, from a character on."""
    if "\0" in pattern or len(pattern) > 1000:
        raise BadInput("What is looked for has at most 1,000 characters, and no NUL among them. Shorten it.")
    async with _turn():
        return await _searched(pattern, text, start)


_turns: dict[asyncio.AbstractEventLoop, asyncio.Semaphore] = {}


@contextlib.asynccontextmanager
async def _turn() -> AsyncGenerator[None]:
    """At most so many searches at once: each is a process."""
    loop = asyncio.get_running_loop()
    for other in [each for each in _turns if each.is_closed()]:
        del _turns[other]
    async with _turns.setdefault(loop, asyncio.Semaphore(_AT_ONCE)):
        yield


async def _searched(pattern: str, text: AsyncIterator[str], start: int) -> SearchPage:
    pipe = asyncio.subprocess.PIPE
    words = isolated_python("-c", _PROGRAM, pattern, str(start))
    try:
        process = await asyncio.create_subprocess_exec(
            *words, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL, env=kernel_environment(os.environ)
        )
    except OSError as error:
        raise Unavailable(
            f"No process for the search could be started: {error.strerror}. Page through it instead."
        ) from error
    lines: list[bytes] = []
    try:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SECONDS):
                await asyncio.gather(_feed(process, text), _collect(process, lines))
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    return _read(lines)


async def _feed(process: asyncio.subprocess.Process, text: AsyncIterator[str]) -> None:
    stdin = process.stdin
    assert stdin is not None  # noqa: S101 - it was asked for
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        async for piece in text:
            stdin.write(piece.encode("utf-8", "replace"))
            await stdin.drain()
        stdin.close()


async def _collect(process: asyncio.subprocess.Process, lines: list[bytes]) -> None:
    stdout = process.stdout
    assert stdout is not None  # noqa: S101 - it was asked for
    while line := await stdout.readline():
        lines.append(line)


def _read(lines: list[bytes]) -> SearchPage:
    summary = msgspec.json.decode(lines.pop(), type=Summary) if lines and lines[-1].startswith(b"{") else None
    return SearchPage(tuple(msgspec.json.decode(line, type=Match) for line in lines), summary)
