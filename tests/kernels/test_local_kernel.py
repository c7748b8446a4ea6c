"""Processes of kernels: how they start, end, are interrupted, left and found again."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from quire.core.errors import BadInput, Conflict, NotFound, Unavailable
from quire.kernels import kernel_protocol
from quire.kernels.kernel_protocol import Kernel, Spec
from quire.kernels.process.connection_dir import all_folders
from quire.kernels.process.exit_status import ProcessExit

from ..fork_server import Talking
from .real_kernels import ENV, PATIENCE, python, said, script, started, text, until

SLEEP = "import time; time.sleep(600)"


pytestmark = pytest.mark.usefixtures("own_folders")


async def start(spec: Spec, cwd: Path = Path("/"), **more: str) -> Kernel:
    return await kernel_protocol.start(spec, cwd=cwd, env={**ENV, **more})


async def ended(kernel: Kernel) -> ProcessExit:
    async with asyncio.timeout(PATIENCE):
        return await kernel.ended()


def lives(pid: int | None) -> bool:
    assert pid is not None
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def children() -> list[str]:
    """The commands of the processes that this one has started."""
    argv = ["ps", "-ww", "-o", "args=", "--ppid", str(os.getpid())]
    return subprocess.run(argv, capture_output=True, text=True).stdout.splitlines()


async def test_how_a_process_ended_is_told_to_everyone_who_asks() -> None:
    kernel = await start(script("raise SystemExit(3)"))
    assert await asyncio.gather(ended(kernel), ended(kernel)) == [ProcessExit(status=3)] * 2
    assert (await ended(kernel)).why == "ended with exit status 3"
    await kernel.close()


async def test_killing_ends_what_the_kernel_started_too(tmp_path: Path) -> None:
    code = f"""
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", {SLEEP!r}])
open({str(tmp_path / "child")!r}, "w").write(str(child.pid) + "\\n")
time.sleep(600)
"""
    kernel = await start(script(code))
    written = tmp_path / "child"
    await until(lambda: written.exists() and written.read_text().endswith("\n"))
    await kernel.kill()
    assert await ended(kernel) == ProcessExit(signal=signal.SIGKILL)
    assert (await ended(kernel)).why == "was killed by SIGKILL"
    child = int(written.read_text())
    await until(lambda: not lives(child))
    await kernel.close()


async def test_an_interrupt_reaches_the_kernel_and_not_us(tmp_path: Path) -> None:
    code = f"""
import time
try:
    open({str(tmp_path / "ready")!r}, "w").close()
    time.sleep(600)
except KeyboardInterrupt:
    raise SystemExit(7)
"""
    kernel = await start(script(code))
    await until((tmp_path / "ready").exists)
    await kernel.interrupt()
    assert await ended(kernel) == ProcessExit(status=7)
    await kernel.interrupt()
    await kernel.close()


async def test_closing_leaves_no_process_and_no_file(tmp_path: Path) -> None:
    kernel = await start(script(SLEEP))
    assert list(all_folders().iterdir())
    await kernel.close()
    assert not lives(kernel.pid)
    assert list(all_folders().iterdir()) == []
    assert [args for args in children() if "watchdog.py" in args and kernel.id in args] == []
    await kernel.close()


@pytest.mark.skipif(shutil.which("flock", path="/usr/bin:/bin") is None, reason="the system has no flock")
async def test_who_sees_to_its_end_waits_in_next_to_no_memory() -> None:
    kernel = await start(script(SLEEP))
    watchers: list[str] = []

    def is_there() -> bool:
        watchers[:] = [args for args in children() if "watchdog.py" in args and kernel.id in args]
        return bool(watchers)

    await until(is_there)  # a process that has just become another program is shown without its arguments
    (watcher,) = watchers
    assert watcher.partition(" ")[0].endswith("/flock")
    await kernel.close()


async def test_nobody_else_can_read_where_a_kernel_listens() -> None:
    kernel = await start(script(SLEEP, is_ours=True))
    folder = all_folders() / kernel.id
    file = folder / "kernel.json"
    assert stat.S_IMODE(all_folders().stat().st_mode) == stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_text()) == kernel.connection
    assert kernel.connection["transport"] == "ipc"
    assert len(kernel.connection["key"]) == 64
    await kernel.close()


async def test_a_folder_that_others_can_read_is_refused() -> None:
    all_folders().mkdir(mode=0o755)
    with pytest.raises(Unavailable, match="only you can read"):
        await start(script(SLEEP))


async def test_kernels_that_are_not_ours_get_ports_that_nobody_else_has() -> None:
    both = [await start(script(SLEEP)) for _ in range(2)]
    places = {
        (one.connection["ip"], one.connection[f"{name}_port"]) for one in both for name in ("shell", "iopub", "hb")
    }
    assert len(places) == 6
    for one in both:
        assert one.connection["transport"] == "tcp"
        await one.close()


async def test_a_path_too_long_for_a_socket_makes_do_with_ports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("x" * 90)
    deep.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    kernel = await start(script(SLEEP, is_ours=True))
    assert kernel.connection["transport"] == "tcp"
    await kernel.close()


async def test_the_process_gets_the_variables_and_the_folder_that_were_given(tmp_path: Path) -> None:
    code = "import os; print(os.getcwd(), os.environ['A'], os.environ['B'], 'JPY_PARENT_PID' in os.environ)"
    spec = Spec(argv=(sys.executable, "-c", code), language="none", name="script", env={"B": "the spec's"})
    kernel = await start(spec, tmp_path, A="the caller's", B="the caller's", JPY_PARENT_PID="1")
    assert await ended(kernel) == ProcessExit(status=0)
    assert kernel.printed == f"{tmp_path} the caller's the spec's False\n"
    await kernel.close()


async def test_the_end_of_what_a_process_prints_is_kept_however_much_it_is() -> None:
    kernel = await start(script("import sys\nfor i in range(50000): print(i)\nsys.stderr.write('the end')"))
    await ended(kernel)
    await until(lambda: kernel.printed.endswith("the end"))
    assert len(kernel.printed) == 16_384
    await kernel.close()


@pytest.mark.parametrize("argv", [("/nowhere/python",), ("/etc/passwd",), ("a\0b",)])
async def test_a_command_that_cannot_start_is_named(argv: tuple[str, ...]) -> None:
    with pytest.raises(Unavailable, match="Kernel 'odd' cannot start"):
        await start(Spec(argv=argv, language="none", name="odd"))
    assert list(all_folders().iterdir()) == []


async def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is no folder"):
        await start(script(SLEEP), tmp_path / "none")


# ---- After the end of whoever used it (rule 11)


def user(grace_seconds: float, code: str | None = None) -> tuple[Talking, str, int]:
    """Another process that uses a kernel: it, and the kernel's id and process."""
    process = Talking(
        "tests.kernels.use_kernel",
        *(str(grace_seconds), *([code] if code else [])),
        env=ENV | {"XDG_RUNTIME_DIR": os.environ["XDG_RUNTIME_DIR"]},
    )
    id, pid = process.line().split()
    return process, id, int(pid)


async def test_after_sigkill_of_its_client_a_kernel_is_gone_when_the_grace_is_over() -> None:
    process, id, pid = user(0.5)
    with pytest.raises(Conflict, match="in use"):
        await kernel_protocol.adopt(id)
    process.kill()
    await until(lambda: not lives(pid))
    await until(lambda: not list(all_folders().iterdir()))
    with pytest.raises(NotFound, match="is gone"):
        await kernel_protocol.adopt(id)


async def test_within_the_grace_the_next_process_finds_the_kernel_as_it_was() -> None:
    from quire.kernels.kernel_client import KernelClient

    process, id, pid = user(PATIENCE, "x = 41")
    process.kill()
    kernel = await kernel_protocol.adopt(id)
    assert kernel.pid == pid
    client = KernelClient(kernel)
    await client.ready(PATIENCE)
    assert text(await said(client, "import os; os.system('echo past Jupyter >&2'); print(x + 1)")) == "42\n"
    client.close()
    await kernel.close()
    assert not lives(pid)
    assert await ended(kernel) == ProcessExit()
    await until(lambda: not list(all_folders().iterdir()))


async def test_a_kernel_that_is_left_lives_until_somebody_ends_it() -> None:
    kernel = await kernel_protocol.start(script(SLEEP), cwd=Path("/"), env=ENV, grace_seconds=0)
    await kernel.leave()
    process, _, pid = user(0)
    process.kill()
    await until(lambda: not lives(pid))
    again = await kernel_protocol.adopt(kernel.id)
    assert lives(again.pid)
    await again.close()
    assert not lives(again.pid)


async def test_a_kernel_that_another_run_has_used_since_is_not_given_away() -> None:
    """What the first had defined may be another thing now."""
    kernel = await kernel_protocol.start(script(SLEEP), cwd=Path("/"), env=ENV)
    kernel.used_by("first")
    await kernel.leave()
    again = await kernel_protocol.adopt(kernel.id, "first")
    again.used_by("second")
    await again.leave()
    with pytest.raises(Conflict, match="has gone on with run second"):
        await kernel_protocol.adopt(kernel.id, "first")
    last = await kernel_protocol.adopt(kernel.id, "second")
    assert lives(last.pid)
    await last.close()


@pytest.mark.parametrize("id", ["", "..", "../x", "nothing", "\0", "x" * 300])
async def test_an_id_that_is_none_finds_nothing(id: str) -> None:
    with pytest.raises(NotFound):
        await kernel_protocol.adopt(id)


# ---- Memory


@pytest.fixture
def small_group() -> Iterator[Path]:
    """A control group with little memory, where the system lets us make one."""
    groups = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    paths = {names: path.lstrip("/") for _, names, path in groups}
    if "memory" in paths:
        group, limit = Path("/sys/fs/cgroup/memory", paths["memory"], f"quire-{os.getpid()}"), "memory.limit_in_bytes"
    else:
        group, limit = Path("/sys/fs/cgroup", paths.get("", ""), f"quire-{os.getpid()}"), "memory.max"
    try:
        group.mkdir()
        (group / limit).write_text("80000000")
    except OSError as error:
        with contextlib.suppress(OSError):
            group.rmdir()
        pytest.skip(f"no control groups to be had here: {error}")
    yield group
    group.rmdir()


def test_a_kernel_that_runs_out_of_memory_is_told_from_one_that_was_killed(small_group: Path) -> None:
    argv = [sys.executable, "-m", "tests.kernels.run_out_of_memory", str(small_group)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout == "the kernel was killed by the system: it ran out of memory", done.stderr


async def test_real_kernels_come_and_go_side_by_side() -> None:
    async with started(python()) as (_, one), started(python()) as (_, other):
        both = await asyncio.gather(said(one, "print(1)"), said(other, "print(2)"))
    assert [text(messages) for messages in both] == ["1\n", "2\n"]
