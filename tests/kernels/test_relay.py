"""The process beside a kernel that stays subscribed: what it is, what it takes, and when it ends."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
from pathlib import Path

import pytest

from quire.core.errors import Conflict
from quire.core.ids import ActorId, LogId
from quire.kernels import kernel_protocol
from quire.kernels.kernel_client import KernelClient
from quire.kernels.kernel_protocol import AdoptedKernel, Kernel
from quire.kernels.process.connection_dir import all_folders
from quire.kernels.relay.relay_frames import VERSION, framed

from .killable_runtimes import LOG, House, folders, printed, relay_of, waiting
from .real_kernels import ENV, PATIENCE, python, said, script, started, text, until

ME = ActorId("runtime:test")
WHERE = "postgresql://ada:secret@db/quire"


pytestmark = pytest.mark.usefixtures("own_folders")


def lives(pid: int | None) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def open_files(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


async def served(kernel: Kernel) -> KernelClient:
    """Its client, with its kernel known as what serves a notebook."""
    kernel.serves(WHERE, LOG, ME)
    client = KernelClient(kernel)
    await client.ready(PATIENCE)
    return client


# ---- What it is


async def test_it_is_small_and_has_nothing_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUIRE_TOKEN", "not-for-others")
    async with started(relayed=True) as (kernel, client):
        await said(client, "for number in range(10_000): print(number)")
        client.forget()
        process = Path("/proc", str(relay_of(kernel.pid)))
        resident = next(line for line in (process / "status").read_text().splitlines() if line.startswith("VmRSS"))
        assert int(resident.split()[1]) < 25_000, resident
        assert b"not-for-others" not in (process / "environ").read_bytes()
        assert kernel.connection["key"].encode() not in (process / "cmdline").read_bytes()


async def test_closing_leaves_no_process_and_no_file() -> None:
    kernel = await kernel_protocol.start(script("import time; time.sleep(600)"), cwd=Path("/"), env=ENV, relayed=True)
    relay = relay_of(kernel.pid)
    assert lives(relay) and folders() == [kernel.id]
    await kernel.close()
    assert not lives(kernel.pid) and not lives(relay)
    assert folders() == []
    await kernel.close()


async def test_a_kernel_that_is_left_is_found_as_it_was_with_a_new_relay_or_without() -> None:
    kernel = await kernel_protocol.start(python(), cwd=Path("/"), env=ENV, relayed=True)
    client, first = await served(kernel), relay_of(kernel.pid)
    await said(client, "x = 41")
    client.close()
    await kernel.leave()
    assert not lives(first)
    for relayed in (True, False):
        kernel = await kernel_protocol.adopt(kernel.id, relayed=relayed)
        client = KernelClient(kernel)
        await client.ready(PATIENCE)
        assert text(await said(client, "x += 1; print(x)")) == ("42\n" if relayed else "43\n")
        client.close()
        await kernel.leave()
    kernel = await kernel_protocol.adopt(kernel.id)
    await kernel.close()
    assert folders() == []


async def test_a_path_too_long_for_a_socket_is_no_hindrance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    async with started(relayed=True) as (kernel, client):
        kernel.serves(WHERE, LOG, ME)
        assert text(await said(client, "print(1)")) == "1\n"
        with pytest.raises(Conflict, match="in use"):
            await kernel_protocol.adopt_served(WHERE, LOG)


# ---- Who may have it


async def test_of_two_who_adopt_at_once_one_wins(house: House) -> None:
    runtime = await house.start()
    runtime.kill()
    where = str(house.folder)
    both = await asyncio.gather(*[kernel_protocol.adopt_served(where, LOG) for _ in range(2)], return_exceptions=True)
    (adopted,) = [each for each in both if isinstance(each, AdoptedKernel)]
    (refused,) = [each for each in both if isinstance(each, Conflict)]
    assert "in use by another process" in str(refused)
    client = KernelClient(adopted.kernel, adopted.flight)
    assert text(await said(client, "print(1)")) == "1\n"
    client.close()
    await adopted.kernel.close()


async def test_only_what_serves_this_notebook_of_this_workspace_is_adopted(house: House) -> None:
    runtime = await house.start()
    runtime.kill()
    where = str(house.folder)
    assert await kernel_protocol.adopt_served(where, LogId("another")) is None
    assert await kernel_protocol.adopt_served(WHERE, LOG) is None
    assert await kernel_protocol.adopt_served(where, LOG, ME) is None
    adopted = await kernel_protocol.adopt_served(where, LOG)
    assert adopted is not None and adopted.actor == f"runtime:test-{adopted.kernel.id}"
    await adopted.kernel.close()


async def test_a_password_in_an_address_is_not_written_down() -> None:
    kernel = await kernel_protocol.start(script("import time; time.sleep(600)"), cwd=Path("/"), env=ENV, relayed=True)
    kernel.serves(WHERE, LOG, ME)
    files = [each for each in (all_folders() / kernel.id).iterdir() if each.is_file()]
    assert "serves.json" in {each.name for each in files}
    assert all(b"secret" not in each.read_bytes() for each in files)
    await kernel.close()


GARBAGE = (
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"\xff" * 1000,
    b"\0" * 1000,
    b"\0\0\0",
    (64).to_bytes(4, "big") + b"Q",
    framed(b"Q", b"quire-relay-0"),
    framed(b"G", b"\0"),
    framed(b"D", b"\xff" * 8),
    secrets.token_bytes(100_000),
)


async def test_garbage_on_its_socket_does_not_hurt_it(house: House) -> None:
    runtime = await house.start()
    execution = await house.request("print('begun', flush=True)\nprint(input())")
    await runtime.said("asked")
    for told in GARBAGE:
        await talk(house, told)
    runtime.kill()
    for told in GARBAGE:
        await talk(house, told)
    # Somebody who says that they are a runtime, and then something that no runtime says.
    hello = framed(b"Q", VERSION)
    for rest in (framed(b"?"), framed(b"S"), framed(b"S", b"\xff"), framed(b"S", b"\2\0\0"), framed(b"B", b"\0" * 12)):
        await talk(house, hello + rest)
    runtime = await house.start()
    await runtime.said("asked")
    runtime.answer("ended")
    found = await house.over(execution)
    assert (found.state, printed(found)) == ("ok", "begun\nended\n")
    await house.check()


async def talk(house: House, told: bytes) -> None:
    """Connect, say something, and hear it hang up."""
    (id,) = folders()
    reader, writer = await asyncio.open_unix_connection(str(all_folders() / id / "relay"))
    writer.write(told)
    if len(told) in (3, 5):  # not even a frame: it would wait for the rest for a while
        writer.close()
    async with asyncio.timeout(PATIENCE):
        try:
            while await reader.read(1 << 16):
                pass
        except ConnectionError:
            pass
    writer.close()


# ---- How it ends


async def test_without_a_runtime_for_too_long_kernel_and_relay_are_gone(house: House) -> None:
    runtime = await house.start(orphan_seconds=0.5)
    execution = await house.request("print('begun', flush=True)\nimport time\ntime.sleep(600)")
    await house.until(execution, lambda found: printed(found) == "begun\n")
    runtime.kill()
    await until(lambda: not lives(runtime.kernel) and not lives(runtime.relay))
    await until(lambda: folders() == [])
    assert await kernel_protocol.adopt_served(str(house.folder), LOG) is None


async def test_a_relay_whose_kernel_ended_with_nothing_to_tell_ends_too(house: House) -> None:
    runtime = await house.start()
    runtime.kill()
    os.kill(runtime.kernel, signal.SIGKILL)
    await until(lambda: not lives(runtime.relay))
    await until(lambda: folders() == [])


async def test_without_its_relay_a_kernel_cannot_be_heard_and_is_gone_after_its_grace(house: House) -> None:
    runtime = await house.start()
    execution = await house.request("print('begun', flush=True)\nimport time\ntime.sleep(600)")
    await house.until(execution, lambda found: printed(found) == "begun\n")
    os.kill(runtime.relay, signal.SIGKILL)
    assert await runtime.said("ran") == ["dead_kernel", "False"]
    found = await house.over(execution)
    assert found.fault is not None and "the relay beside it is gone" in found.fault.evalue
    await until(lambda: not lives(runtime.kernel))
    await until(lambda: folders() == [])


async def test_with_runtime_and_relay_gone_the_cell_is_lost_and_the_kernel_too(house: House) -> None:
    """Rule 10."""
    runtime = await house.start()
    execution = await house.request("print('begun', flush=True)\nimport time\ntime.sleep(600)")
    await house.until(execution, lambda found: printed(found) == "begun\n")
    runtime.kill()
    os.kill(runtime.relay, signal.SIGKILL)
    await until(lambda: not lives(runtime.kernel))
    await until(lambda: folders() == [])
    house.runtimes.clear()
    runtime = await house.start()
    found = await house.over(execution)
    assert found.state == "lost"
    assert found.fault is not None and "is gone" in found.fault.evalue
    assert printed(await house.over(await house.request("print('next')"))) == "next\n"


@pytest.mark.slow
async def test_a_runtime_that_stands_still_is_hung_up_on_and_told(house: House, tmp_path: Path) -> None:
    """A stock kernel does not wait, and a relay has no room for all that a process misses which never wakes up."""
    runtime = await house.start(language="stock")
    ready, go = tmp_path / "ready", tmp_path / "go"
    loud = "while True: print('x' * 1_000_000, flush=True); time.sleep(0.001)"
    execution = await house.request(waiting(ready, go) + loud)
    await until(ready.exists)
    os.kill(runtime.pid, signal.SIGSTOP)
    before = open_files(runtime.relay)
    go.touch()
    await until(lambda: open_files(runtime.relay) < before)
    os.kill(runtime.pid, signal.SIGCONT)
    assert await runtime.said("ran") == ["dead_kernel", "False"]
    found = await house.over(execution)
    assert found.fault is not None and "cannot be heard any more" in found.fault.evalue
