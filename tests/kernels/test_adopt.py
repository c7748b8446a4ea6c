"""Runtimes that are killed, and the next ones that go on with what they had under way, whole (rule 11)."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from pathlib import Path

import pytest

from quire.core import events as e
from quire.core.events import Display, Raised, Stream
from quire.core.notebook.notebook import Execution
from quire.kernels.process.connection_dir import all_folders
from quire.kernels.relay.relay_frames import SOCKET, VERSION, framed
from tests.other_kernels import register

from .killable_runtimes import LOG, House, find, folders, printed, waiting
from .real_kernels import PATIENCE, until

pytestmark = pytest.mark.usefixtures("own_folders")


COUNTER = """
import time
for number in range({most}):
    print(number, flush=True)
    time.sleep(0.02)
"""


def counted(most: int) -> str:
    return "".join(f"{number}\n" for number in range(most))


async def test_every_number_of_a_counter_is_there_once_however_often_its_runtime_is_killed(house: House) -> None:
    runtime = await house.start()
    execution = await house.request(COUNTER.format(most=150))
    await runtime.said("claimed")
    for lines in (0, 1, 30, 31, 100):
        await house.until(execution, lambda found, lines=lines: printed(found).count("\n") >= lines)
        runtime.kill()
        runtime = await house.start()
    found = await house.over(execution)
    assert printed(found) == counted(150)
    assert (found.state, found.count, found.fault) == ("ok", 1, None)
    await house.check()
    after = await house.over(await house.request("print(number)"))
    assert (printed(after), after.count) == ("149\n", 2)


# ---- What a cell may be at when its runtime is killed


async def test_a_question_is_asked_again_and_answered(house: House) -> None:
    runtime = await house.start()
    execution = await house.request("first = input('one? ')\nprint(first)\nprint(input('two? '), first)")
    assert await runtime.said("asked") == ["one?"]
    runtime.kill()
    runtime = await house.start()
    assert await runtime.said("asked") == ["one?"]
    runtime.answer("1")
    assert await runtime.said("asked") == ["two?"]
    runtime.kill()
    runtime = await house.start()
    assert await runtime.said("asked") == ["two?"]
    runtime.answer("2")
    found = await house.over(execution)
    assert (found.state, printed(found)) == ("ok", "1\n2 1\n")
    await house.check()


LIVELY = """
import sys, time
from IPython.display import clear_output, display
display("before", display_id="d")
print("cleared")
for number in range(100):
    display(number, display_id="d", update=True)
    if number == 50:
        clear_output(wait=True)
        display("after", display_id="a")
    print(f"\\r{number:3} %", end="", flush=True)
    display(-number, display_id="a", update=True)
    time.sleep(0.02)
print()
print("done", file=sys.stderr)
number
"""


def shown(execution: Execution) -> list[str]:
    def text(output: Display | Raised | Stream) -> str:
        if isinstance(output, Stream):
            return output.head + output.tail
        return str(output.data["text/plain"]) if isinstance(output, Display) else output.ename

    return [text(output) for output in execution.outputs]


async def test_progress_bars_updates_and_clearing_go_on_as_if_nothing_had_been(house: House) -> None:
    runtime = await house.start()
    execution = await house.request(LIVELY)
    for chunk in (3, 30, 90):
        await house.until(execution, lambda found, chunk=chunk: found.chunk >= chunk or not found.is_open)
        runtime.kill()
        runtime = await house.start()
    found = await house.over(execution)
    assert found.state == "ok"
    assert shown(found) == ["-99", " 99 %\n", "done\n", "99"]
    await house.check()


async def test_results_and_an_error_around_the_kill_are_recorded_once(house: House) -> None:
    runtime = await house.start()
    source = """
from quire.kernel import result
result("before", 1)
input()
result("after", 2)
1 / 0
"""
    execution = await house.request(source)
    await runtime.said("asked")
    runtime.kill()
    runtime = await house.start()
    await runtime.said("asked")
    runtime.answer("")
    found = await house.over(execution)
    assert found.state == "error" and isinstance(found.outputs[-1], Raised)
    assert found.fault is not None and found.fault.ename == "ZeroDivisionError"
    results = [entry.event for entry in await house.workspace.entries(LOG, types=("result_recorded",))]
    assert [(each.name, each.value) for each in results if isinstance(each, e.ResultRecorded)] == [
        ("before", 1),
        ("after", 2),
    ]
    await house.check()


async def test_what_happens_while_nobody_is_there_is_recorded_by_the_next(house: House, tmp_path: Path) -> None:
    runtime = await house.start()
    source = f"""
import pathlib, time
print("begun", flush=True)
while not pathlib.Path({str(tmp_path / "go")!r}).exists():
    time.sleep(0.01)
print("alone")
pathlib.Path({str(tmp_path / "gone")!r}).touch()
x = 42
x
"""
    execution = await house.request(source)
    await house.until(execution, lambda found: printed(found) == "begun\n")
    runtime.kill()
    (tmp_path / "go").touch()
    await until((tmp_path / "gone").exists)
    await house.start()
    found = await house.over(execution)
    assert (found.state, shown(found)) == ("ok", ["begun\nalone\n", "42"])
    assert shown(await house.over(await house.request("x + 1"))) == ["43"]
    await house.check()


async def test_a_kernel_that_dies_while_nobody_is_there_is_told_with_all_that_it_said(house: House) -> None:
    runtime = await house.start()
    execution = await house.request("print('last words', flush=True)\nimport time\ntime.sleep(600)")
    await house.until(execution, lambda found: printed(found) == "last words\n")
    runtime.kill()
    os.kill(runtime.kernel, signal.SIGKILL)
    runtime = await house.start()
    assert await runtime.said("ran") == ["dead_kernel", "False"]
    found = await house.over(execution)
    assert (found.state, printed(found)) == ("dead_kernel", "last words\n")
    assert found.fault is not None and found.fault.evalue == "The kernel is gone."
    await house.check()


async def test_one_that_was_interrupted_is_cancelled_and_not_an_error(house: House) -> None:
    runtime = await house.start()
    source = """
import time
try:
    print("begun", flush=True)
    time.sleep(600)
finally:
    print("stopping", flush=True)
    input("sure? ")
"""
    execution = await house.request(source)
    await house.until(execution, lambda found: printed(found) == "begun\n")
    await house.say(e.InterruptRequested(execution=execution))
    await runtime.said("asked")
    runtime.kill()
    runtime = await house.start()
    await runtime.said("asked")
    runtime.answer("yes")
    found = await house.over(execution)
    assert (found.state, printed(found)) == ("cancelled", "begun\nstopping\n")
    await house.check()


async def test_an_interrupt_that_came_while_nobody_was_there_is_obeyed(house: House) -> None:
    runtime = await house.start()
    execution = await house.request("print('begun', flush=True)\nimport time\ntime.sleep(600)")
    await house.until(execution, lambda found: printed(found) == "begun\n")
    runtime.kill()
    await house.say(e.InterruptRequested(execution=execution))
    await house.start()
    assert (await house.over(execution)).state == "cancelled"


async def test_a_secret_that_arrives_in_two_halves_around_the_kill_is_removed(house: House) -> None:
    """Rule 16."""
    runtime = await house.start()
    execution = await house.request("print('very-sec', end='', flush=True)\ninput()\nprint('ret-value')")
    await runtime.said("asked")
    runtime.kill()
    runtime = await house.start()
    await runtime.said("asked")
    runtime.answer("")
    found = await house.over(execution)
    assert found.state == "ok"
    assert "ret-value" not in printed(found) and "very-sec" not in printed(found)
    assert await house.workspace.holding(LOG, "very-secret-value") == []


async def test_a_cell_whose_end_was_recorded_just_before_is_not_recorded_again(house: House) -> None:
    runtime = await house.start()
    for number in range(3):
        execution = await house.request(f"print({number})")
        found = await house.over(execution)
        runtime.kill()
        runtime = await house.start()
        assert (found.state, found.count, printed(found)) == ("ok", number + 1, f"{number}\n")
    await house.check()
    entries = await house.workspace.entries(LOG, types=("execution_finished",))
    assert len(entries) == 3


async def test_what_was_asked_for_meanwhile_runs_after_it(house: House) -> None:
    runtime = await house.start()
    first = await house.request(COUNTER.format(most=50))
    await house.until(first, lambda found: "3\n" in printed(found))
    runtime.kill()
    second = await house.request("print(number)")
    await house.start()
    assert printed(await house.over(first)) == counted(50)
    assert printed(await house.over(second)) == "49\n"


# ---- More than is kept


LONG = """
for number in range(80):
    print(f"{number:02}" * 500_000)
"""


@pytest.mark.slow
async def test_our_kernel_waits_when_nobody_takes_what_it_prints(house: House, tmp_path: Path) -> None:
    runtime = await house.start()
    ready, go = tmp_path / "ready", tmp_path / "go"
    execution = await house.request(waiting(ready, go) + LONG)
    await until(ready.exists)
    runtime.kill()
    go.touch()
    await until(lambda: held(runtime.relay))
    await house.start()
    found = await house.over(execution)
    (stream,) = found.outputs
    assert isinstance(stream, Stream)
    assert (found.state, stream.length, stream.omitted > 0) == ("ok", 80 * 1_000_001, True)
    assert stream.blob is not None
    data = b"".join([piece async for piece in house.workspace.open_blob(stream.blob.hash)])
    assert data.decode() == "".join(f"{number:02}" * 500_000 + "\n" for number in range(80))
    await house.check()


@pytest.mark.slow
async def test_of_a_stock_kernel_that_said_too_much_the_cell_is_lost_and_the_state_is_not(
    house: House, tmp_path: Path
) -> None:
    runtime = await house.start(language="stock")
    ready, go = tmp_path / "ready", tmp_path / "go"
    # More than is kept, and then no more: who takes over is not to race with a kernel that prints for ever.
    much = "for _ in range(250): print('more' * 100_000, flush=True)\nwhile True: time.sleep(0.01)"
    execution = await house.request(f"x = 'still there'\n{waiting(ready, go)}{much}")
    await until(ready.exists)
    await house.until(execution, lambda found: found.state == "running")  # the log is behind the kernel
    runtime.kill()
    go.touch()
    async with asyncio.timeout(PATIENCE):
        while await is_whole():  # noqa: ASYNC110 - of another process
            await asyncio.sleep(0.05)
    runtime = await house.start()
    assert await runtime.said("ran") == ["lost", "True"]
    found = await house.over(execution)
    assert found.state == "lost"
    assert found.fault is not None and "more than was kept" in found.fault.evalue
    assert shown(await house.over(await house.request("x"))) == ["'still there'"]
    await house.check()


@pytest.mark.slow
async def test_a_kernel_that_prints_on_shuts_nobody_out_who_is_still_reading_what_was_kept(
    house: House, tmp_path: Path
) -> None:
    runtime = await house.start(language="stock")
    ready, go, kept, more, done = (tmp_path / name for name in ("ready", "go", "kept", "more", "done"))
    much = "for _ in range(200): print('more' * 100_000, flush=True)\n"
    last = f"print('more' * 1_000_000, flush=True)\npathlib.Path({str(done)!r}).touch()\n"
    execution = await house.request(waiting(ready, go) + much + waiting(kept, more) + last)
    await until(ready.exists)
    await house.until(execution, lambda found: found.state == "running")
    runtime.kill()
    go.touch()
    await until(kept.exists)
    async with asyncio.timeout(PATIENCE):
        while await is_whole():  # noqa: ASYNC110 - of another process
            await asyncio.sleep(0.05)
        reader, writer = await connected_to_relay()
        # All that is kept waits for this reader, and the kernel prints on before it reads.
        more.touch()
        await until(done.exists)
        while await frame_kind(reader) != b"L":
            pass
    writer.close()


async def connected_to_relay() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect as a runtime does, as soon as the relay has noticed that the last one left."""
    while True:
        (id,) = folders()
        reader, writer = await asyncio.open_unix_connection(str(all_folders() / id / SOCKET))
        writer.write(framed(b"Q", VERSION))
        if await frame_kind(reader) == b"W":
            return reader, writer
        writer.close()


async def frame_kind(reader: asyncio.StreamReader) -> bytes:
    """Read a frame, and return its kind."""
    size = int.from_bytes(await reader.readexactly(4), "big")
    return (await reader.readexactly(size))[:1]


async def is_whole() -> bool:
    """Whether a relay that nobody uses has all that its kernel said."""
    (id,) = folders()
    reader, writer = await asyncio.open_unix_connection(str(all_folders() / id / SOCKET))
    writer.write(framed(b"Q", VERSION))
    first = await reader.read(6)
    writer.close()
    # It may also say that somebody is there: us, a moment ago.
    return first != framed(b"W", b"\0")


def held(relay: int) -> bool:
    """Whether a relay has as much as it keeps."""
    lines = Path(f"/proc/{relay}/status").read_text().splitlines()
    return any(line.startswith("VmRSS") and int(line.split()[1]) > 64_000 for line in lines)


# ---- Other languages


@pytest.mark.slow
async def test_a_kernel_of_another_language_is_gone_on_with(house: House, tmp_path: Path) -> None:
    runtime = await house.start(language="R", env=register(tmp_path / "kernels"))
    source = "for (number in 0:99) { cat(number, '\\n', sep=''); flush.console(); Sys.sleep(0.02) }\nx <- 7\n"
    execution = await house.request(source)
    for lines in (2, 40):
        await house.until(execution, lambda found, lines=lines: printed(found).count("\n") >= lines)
        runtime.kill()
        runtime = await house.start()
    found = await house.over(execution)
    assert (found.state, printed(found)) == ("ok", counted(100))
    assert printed(await house.over(await house.request("cat(x)"))) == "7"
    await house.check()


# ---- Whenever it happens


MIXED = """
import sys, time
from IPython.display import display
display("shown", display_id="d")
for number in range(400):
    print(number, end=" " if number % 7 else "\\n", flush=number % 3 == 0)
    if number % 11 == 0:
        print("aside", number, file=sys.stderr, flush=True)
    if number % 13 == 0:
        display(number, display_id="d", update=True)
    if number % 29 == 0:
        display(f"new {number}")
    if number % 50 == 0:
        print("y" * 20_000)
    if number % 10 == 0:
        time.sleep(0.03)
number
"""


@pytest.mark.torture
async def test_torture_runtimes_killed_at_random(house: House) -> None:
    runtime = await house.start()
    expected = await whole(house, await house.over(await house.request(MIXED)))
    kills = 0
    while kills < 100:
        execution = await house.request(MIXED)
        is_open = True
        while is_open:
            await asyncio.sleep(random.uniform(0, 0.4))  # not for anything: that is when it happens
            found = find(await house.workspace.read(LOG), execution)
            is_open = found is None or found.is_open
            runtime.kill()
            kills += 1
            runtime = await house.start()
        found = await house.over(execution)
        assert found.state == "ok"
        assert await whole(house, found) == expected
    await house.check()


async def whole(house: House, execution: Execution) -> dict[str, str]:
    """All that it showed, by where. Which stream comes first is the kernel's mood."""
    found = {"stdout": "", "stderr": "", "displays": ""}
    for output in execution.outputs:
        if not isinstance(output, Stream):
            found["displays"] += str(output.data if isinstance(output, Display) else output)
        elif output.blob is None:
            found[output.name] += output.head + output.tail
        else:
            pieces = [piece async for piece in house.workspace.open_blob(output.blob.hash)]
            found[output.name] += b"".join(pieces).decode()
    return found
