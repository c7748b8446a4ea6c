"""Blobs in a folder: what the disk, other processes and their deaths do to them."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from quire.core.errors import BadInput, Unavailable
from quire.stores.blobs.blobs import CHUNK, open_blobs
from quire.stores.blobs.folder_blobs import STALE_SECONDS, FolderBlobs
from quire.stores.blobs.memory_blobs import MemoryBlobs

from ..contracts.test_blobs import cancel_halfway, data_of, hashes, in_pieces, read


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "blobs"


@pytest.fixture
def blobs(folder: Path) -> FolderBlobs:
    return FolderBlobs(folder)


def files(folder: Path) -> list[str]:
    """Every file there is, blob or not."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def place(folder: Path, hash: str) -> Path:
    return folder / hash[:2] / hash[2:]


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Run `code` in a process of its own, to be talked to over its standard streams."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def tell(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def answer(process: subprocess.Popen[str]) -> Any:
    """The JSON that a process prints at its end."""
    with process:
        try:
            text, _ = process.communicate(timeout=200)
        finally:
            process.kill()
        assert process.returncode == 0
        return json.loads(text)


# ---- Files


async def test_a_blob_is_one_read_only_file_in_a_folder_by_its_first_two_digits(
    blobs: FolderBlobs, folder: Path
) -> None:
    ref = await blobs.put(b"hello")
    assert files(folder) == [f"{ref.hash[:2]}/{ref.hash[2:]}"]
    assert stat.S_IMODE(place(folder, ref.hash).stat().st_mode) & 0o333 == 0
    assert place(folder, ref.hash).read_bytes() == b"hello"


async def test_the_same_bytes_again_are_the_same_file_and_as_young_as_a_new_one(
    blobs: FolderBlobs, folder: Path
) -> None:
    """So who collects what nobody refers to leaves alone what is just being put."""
    ref = await blobs.put(b"hello")
    os.utime(place(folder, ref.hash), (0, 0))
    before = place(folder, ref.hash).stat()
    await FolderBlobs(folder).put(b"hello")
    after = place(folder, ref.hash).stat()
    assert (before.st_ino, before.st_mtime) == (after.st_ino, 0.0)
    assert after.st_mtime > 0
    assert not await blobs.delete_old(ref.hash, 3600)
    os.utime(place(folder, ref.hash), (0, 0))
    assert [(found.hash, found.size, found.seconds_old > 3600) async for found in blobs.scan()] == [(ref.hash, 5, True)]
    assert await blobs.delete_old(ref.hash, 3600)
    assert await blobs.size(ref.hash) is None


async def test_other_files_in_the_folder_are_no_blobs(blobs: FolderBlobs, folder: Path) -> None:
    ref = await blobs.put(b"hello")
    (folder / "README").write_text("not a blob")
    (folder / "ff").write_text("not a folder")
    (folder / ref.hash[:2] / "notes").write_text("not a blob either")
    (folder / ("e" * 64)).write_text("not in its place")
    assert await hashes(blobs) == [ref.hash]


async def test_changed_bytes_are_found(blobs: FolderBlobs, folder: Path) -> None:
    data = data_of(2 * CHUNK)
    ref = await blobs.put(data)
    file = place(folder, ref.hash)
    for damaged in (data[:-1] + b"?", data[:-1], data + b"?", b""):
        file.chmod(0o644)
        file.write_bytes(damaged)
        assert not await blobs.verify(ref.hash)
    file.write_bytes(data)
    assert await blobs.verify(ref.hash)


async def test_a_blob_that_was_cut_off_is_made_whole_by_the_next_put(blobs: FolderBlobs, folder: Path) -> None:
    ref = await blobs.put(b"hello")
    place(folder, ref.hash).chmod(0o644)
    place(folder, ref.hash).write_bytes(b"hel")
    assert await blobs.put(b"hello") == ref
    assert await blobs.verify(ref.hash)
    assert len(files(folder)) == 1


async def test_who_reads_a_blob_reads_on_while_it_is_deleted(blobs: FolderBlobs) -> None:
    data = data_of(3 * CHUNK)
    ref = await blobs.put(data)
    content = blobs.open(ref.hash)
    first = await anext(content)
    await blobs.delete(ref.hash)
    assert first + b"".join([piece async for piece in content]) == data


# ---- Failure leaves nothing


async def test_failure_leaves_no_file_behind(blobs: FolderBlobs, folder: Path) -> None:
    async def failing() -> AsyncIterator[bytes]:
        yield bytes(2 * CHUNK)
        assert len(files(folder)) == 1
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        await blobs.put(failing())
    with pytest.raises(BadInput):
        await blobs.put(bytes(3 * CHUNK), limit=2 * CHUNK)
    assert files(folder) == []


async def test_a_cancelled_put_leaves_no_file_behind(blobs: FolderBlobs, folder: Path) -> None:
    await cancel_halfway(blobs, data_of(2 * CHUNK))
    assert files(folder) == []


async def test_a_put_cancelled_at_any_step_leaves_a_whole_blob_or_nothing(blobs: FolderBlobs, folder: Path) -> None:
    for steps in range(60):
        put = asyncio.create_task(blobs.put(in_pieces(data_of(3 * CHUNK + steps), CHUNK)))
        for _ in range(steps):
            await asyncio.sleep(0)
        put.cancel()
        put.cancel()
        await asyncio.wait([put])
        assert [name for name in files(folder) if name.startswith("incoming")] == []
        for hash in await hashes(blobs):
            assert await blobs.verify(hash)
            await blobs.delete(hash)


HALFWAY = """
import asyncio, sys
from quire.stores.blobs.blobs import CHUNK
from quire.stores.blobs.folder_blobs import FolderBlobs

async def content():
    for _ in range(3):
        yield bytes(CHUNK)
    print("halfway", flush=True)
    await asyncio.Event().wait()

asyncio.run(FolderBlobs(sys.argv[1]).put(content()))
"""


async def test_a_killed_put_leaves_no_blob_and_a_later_open_cleans_up(folder: Path) -> None:
    with start(HALFWAY, folder) as process:
        try:
            assert line(process) == "halfway"
        finally:
            process.send_signal(signal.SIGKILL)
    blobs = FolderBlobs(folder)
    assert await hashes(blobs) == []
    assert await blobs.size(hashlib.sha256(bytes(3 * CHUNK)).hexdigest()) is None
    assert len(files(folder)) == 1
    FolderBlobs(folder, clock=lambda: time.time() + STALE_SECONDS + 60)
    assert files(folder) == []
    ref = await blobs.put(bytes(3 * CHUNK))
    assert await blobs.verify(ref.hash)


async def test_opening_a_folder_leaves_alone_what_others_are_putting(blobs: FolderBlobs, folder: Path) -> None:
    async def content() -> AsyncIterator[bytes]:
        yield bytes(CHUNK)
        FolderBlobs(folder, clock=lambda: time.time() + STALE_SECONDS / 2)
        yield bytes(CHUNK)

    ref = await blobs.put(content())
    assert await blobs.verify(ref.hash)


# ---- Disks


FULL = """
import asyncio, json, resource, sys
from pathlib import Path
from quire.core.errors import Unavailable
from quire.stores.blobs.blobs import CHUNK
from quire.stores.blobs.folder_blobs import FolderBlobs

folder, limited = Path(sys.argv[1]) / "blobs", sys.argv[2] == "limited"
if limited:
    resource.setrlimit(resource.RLIMIT_FSIZE, (4 * CHUNK, 4 * CHUNK))

async def content():
    for number in range(8):
        yield bytes([number]) * CHUNK

async def main():
    blobs = FolderBlobs(folder)
    before = await blobs.put(b"before")
    told = []
    for _ in range(2):
        try:
            await blobs.put(content())
        except Unavailable as error:
            told.append(str(error))
    after = await blobs.put(bytes(2 * CHUNK))
    kept = [hash async for hash in blobs.list()]
    left = [path.name for path in (folder / "incoming").iterdir()]
    fine = [await blobs.verify(hash) for hash in kept]
    print(json.dumps({"told": told, "kept": sorted(kept), "put": sorted([before.hash, after.hash]), "left": left, "fine": fine}))

asyncio.run(main())
"""


def on_own_disk(folder: Path, code: str, *arguments: str, then: str = "true") -> subprocess.Popen[str] | None:
    """Run `code` with a disk of 4 MiB at `folder` that nobody else sees. None where that is not permitted."""
    alone = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    if shutil.which("unshare") is None or subprocess.run([*alone, *mount], capture_output=True, check=False).returncode:
        return None
    shell = f'{" ".join(mount[:-1])} "$1" && {then} && exec "$2" -c "$3" "$1" "$4"'
    command = [*alone, "sh", "-c", shell, "sh", str(folder), sys.executable, code, *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("what", ["disk", "file"])
def test_a_full_disk_is_told_and_leaves_nothing(tmp_path: Path, what: str) -> None:
    """The limit on the size of a file is what is left where no disk can be mounted."""
    process = on_own_disk(tmp_path, FULL, "mounted") if what == "disk" else None
    told = answer(process or start(FULL, tmp_path, "limited"))
    fault = "the disk is full" if process else "a file may not be that large"
    assert len(told["told"]) == 2
    for message in told["told"]:
        assert message.startswith(f"{tmp_path / 'blobs'}: {fault}")
        assert "Nothing was kept; " in message
    assert told["kept"] == told["put"]
    assert told["fine"] == [True, True]
    assert told["left"] == []


REFUSED = """
import asyncio, json, os, sys
from pathlib import Path
from quire.core.errors import Unavailable
from quire.stores.blobs.folder_blobs import FolderBlobs

folder, user = Path(sys.argv[1]), int(sys.argv[2])
if user:
    asyncio.run(asyncio.to_thread(int))  # load what a thread needs while it can still be read
    os.setuid(user)

async def main():
    told = []
    async def attempt(what):
        try:
            await what
            told.append(None)
        except Unavailable as error:
            told.append(str(error))

    try:
        FolderBlobs(folder / "new")
        told.append(None)
    except Unavailable as error:
        told.append(str(error))
    blobs = FolderBlobs(folder)
    hash = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    await attempt(blobs.put(b"another"))
    await attempt(blobs.delete(hash))
    content = b"".join([piece async for piece in blobs.open(hash)])
    print(json.dumps({"told": told, "content": content.decode(), "fine": await blobs.verify(hash)}))

asyncio.run(main())
"""


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder that every user of this machine can reach; pytest's own are private."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


async def test_a_folder_without_permission_can_be_read_and_says_why_not_more(public_folder: Path) -> None:
    folder = public_folder / "blobs"
    await FolderBlobs(folder).put(b"hello")
    for path in (folder, *(path for path in folder.iterdir())):
        path.chmod(0o555)
    told = answer(start(REFUSED, folder, 0 if os.geteuid() else 65534))
    for path in (folder, *(path for path in folder.iterdir())):
        path.chmod(0o755)
    assert (told["content"], told["fine"]) == ("hello", True)
    for message in told["told"]:
        assert message.startswith(f"{folder}")
        assert "no permission" in message
        assert "--at or QUIRE_URL" in message


def test_a_read_only_disk_can_be_read_and_says_why_not_more(tmp_path: Path) -> None:
    file = '"$1"/2c/f24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824'
    then = f'mkdir "$1"/2c && printf hello > {file} && mount -o remount,ro "$1"'
    process = on_own_disk(tmp_path, REFUSED, "0", then=then)
    if process is None:
        return  # not permitted to mount: the test above has seen the same path through
    told = answer(process)
    assert (told["content"], told["fine"]) == ("hello", True)
    for message in told["told"]:
        assert message.startswith(f"{tmp_path}")
        assert "the disk is read-only" in message


async def test_a_folder_that_is_none_or_is_gone_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(Unavailable, match="cannot be used"):
            FolderBlobs(path)
    blobs = FolderBlobs(tmp_path / "blobs")
    shutil.rmtree(tmp_path / "blobs")
    with pytest.raises(Unavailable, match="the folder is gone"):
        await blobs.put(b"lost")
    with pytest.raises(Unavailable, match="the folder is gone"):
        await hashes(blobs)
    assert not (tmp_path / "blobs").exists()  # a disk that is not mounted must not be written around


# ---- Many processes


TOGETHER = """
import asyncio, json, sys
from quire.stores.blobs.blobs import CHUNK
from quire.stores.blobs.folder_blobs import FolderBlobs

async def content(number):
    for at in range(3):
        yield bytes([number, at]) * (CHUNK // 2)

async def main():
    blobs = FolderBlobs(sys.argv[1])
    print("ready", flush=True)
    sys.stdin.readline()
    refs = [await blobs.put(content(number)) for number in range(25)]
    print(json.dumps([[ref.hash, ref.size] for ref in refs]))

asyncio.run(main())
"""


async def test_processes_that_put_the_same_blobs_at_once_end_up_with_one_of_each(folder: Path) -> None:
    processes = [start(TOGETHER, folder) for _ in range(3)]
    for process in processes:
        assert line(process) == "ready"
    for process in processes:
        tell(process)
    answers = [answer(process) for process in processes]
    assert answers[0] == answers[1] == answers[2]
    expected = sorted(hash for hash, _ in answers[0])
    blobs = FolderBlobs(folder)
    assert await hashes(blobs) == expected
    assert files(folder) == [f"{hash[:2]}/{hash[2:]}" for hash in expected]
    for hash in expected:
        assert await blobs.verify(hash)


# ---- Memory

PEAK = """
import asyncio, json, os, re, resource, sys
from pathlib import Path
from quire.stores.blobs.blobs import CHUNK, open_blobs

def peak():
    # What getrusage says may be the peak of the process that started this one; Linux knows better.
    status = Path("/proc/self/status")
    if status.exists():
        return int(re.search(r"VmHWM:\\s+(\\d+) kB", status.read_text())[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

async def content():
    for _ in range(int(sys.argv[3]) // 65_536):
        yield os.urandom(65_536)

async def main():
    blobs = open_blobs(sys.argv[1], **json.loads(sys.argv[2]))
    await blobs.verify((await blobs.put(b"warm")).hash)
    before = peak()
    ref = await blobs.put(content())
    fine = await blobs.verify(ref.hash)
    print(json.dumps({"size": ref.size, "fine": fine, "grown": peak() - before}))

asyncio.run(main())
"""


@pytest.mark.slow
def test_a_large_blob_passes_through_little_memory(folder: Path) -> None:
    told = answer(start(PEAK, folder, "{}", 200_000_000))
    assert told["size"] > 199_000_000
    assert told["fine"]
    assert told["grown"] < 50_000_000


# ---- Opening


def test_a_path_opens_a_folder_and_an_address_what_it_names(tmp_path: Path) -> None:
    assert isinstance(open_blobs(tmp_path / "blobs"), FolderBlobs)
    assert isinstance(open_blobs(str(tmp_path / "blobs")), FolderBlobs)
    assert isinstance(open_blobs((tmp_path / "with space").as_uri()), FolderBlobs)
    assert (tmp_path / "with space").is_dir()
    assert isinstance(open_blobs("memory://"), MemoryBlobs)
    for url in ("file://", "file://blobs", "file://elsewhere/blobs"):
        with pytest.raises(BadInput, match="names no folder of this machine"):
            open_blobs(url)


WITHOUT_CLIENT = """
import json, sys
sys.modules["obstore"] = None  # as if it were not installed
from quire.core.errors import BadInput
from quire.stores.blobs.blobs import open_blobs

open_blobs(sys.argv[1])
try:
    open_blobs("s3://bucket/prefix")
except BadInput as error:
    print(json.dumps(str(error)))
"""


def test_a_folder_needs_no_client_for_object_storage(folder: Path) -> None:
    told = answer(start(WITHOUT_CLIENT, folder))
    assert "pip install 'quire[s3]'" in told


async def test_a_folder_and_object_storage_keep_blobs_under_the_same_names(folder: Path) -> None:
    from quire.stores.blobs.object_blobs import ObjectBlobs

    ref = await FolderBlobs(folder).put(b"moved")
    objects = ObjectBlobs(folder.as_uri())
    assert await hashes(objects) == [ref.hash]
    assert await read(objects, ref.hash) == b"moved"
