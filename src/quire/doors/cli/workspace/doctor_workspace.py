"""What `quire doctor` looks at of a workspace: its folder, its store, its server."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import sys
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....connection import DATABASE, check_store, connect_store
from ....core.errors import QuireError, Refused
from ....workspace import server_file
from ....workspace.lanes.runtime_limit import full_room
from ....workspace.log.process_id import is_gone
from ..printer import counted, sized
from .doctor_finding import DoctorFinding, fault, ok, warning

if TYPE_CHECKING:
    from ....connection import Checkup
    from ....workspace.prune_runs import Sizes
    from ..server.server_workspace import ServerWorkspace

LITTLE_DISK, NO_DISK = 1_000_000_000, 100_000_000
CLOCK = timedelta(minutes=1)
HEALTH_SECONDS = 5
OLD = "30d"
_SHARED = ("nfs", "cifs", "smb", "9p", "fuse.sshfs")


def look_at_folder(place: ServerWorkspace) -> Iterator[DoctorFinding]:
    """Whether the folder is ours, ours alone, writable, and not in git."""
    folder = place.state
    if not folder.is_dir():
        near = folder.parent if folder.parent.is_dir() else Path.cwd()
        if os.access(near, os.W_OK | os.X_OK):
            yield ok("workspace", f"There is none yet; the first verb makes {folder}")
        else:
            yield fault(
                "workspace", f"There is none yet, and {near} cannot be written.", "Go to another folder, or use --at."
            )
        return
    yield from _look_at_rights(folder)
    yield from _look_at_ignored(folder)
    yield from _look_at_disk(folder)


def _look_at_rights(folder: Path) -> Iterator[DoctorFinding]:
    status = folder.stat()
    files = [folder, *folder.glob(f"{DATABASE}*"), folder / "blobs"]
    closed = [path for path in files if path.exists() and not os.access(path, os.W_OK)]
    if closed:
        yield fault("workspace", f"{closed[0]} cannot be written.", f"chown -R {_user()} {folder}, or see `ls -l`.")
    elif status.st_uid != os.getuid():
        told = f"{folder} belongs to another user (number {status.st_uid})."
        yield warning("workspace", told, "Let one user own it, and give others tokens: `quire token new`.")
    elif stat.S_IMODE(status.st_mode) & 0o077:
        yield warning("workspace", f"Others on this machine can read {folder}: outputs, logs.", f"chmod 700 {folder}")
    else:
        yield ok("workspace", f"{folder} is writable, and nobody else's")


def _user() -> str:
    import pwd

    with contextlib.suppress(KeyError):
        return pwd.getpwuid(os.getuid()).pw_name
    return str(os.getuid())


def _look_at_ignored(folder: Path) -> Iterator[DoctorFinding]:
    from ....git.repository import attempt, find_repository

    if shutil.which("git") is None or find_repository(folder.parent) is None:
        return
    if attempt("ls-files", "--error-unmatch", folder.name, at=folder.parent).returncode == 0:
        told = f"{folder} is in git: logs and outputs would be published."
        yield fault("workspace", told, f"git rm -r --cached {folder.name}, and commit that.")
    elif attempt("check-ignore", "--quiet", f"{folder.name}/{DATABASE}", at=folder.parent).returncode:
        yield warning("workspace", f"git does not ignore {folder}.", f"echo '{folder.name}/' >> .gitignore")
    else:
        yield ok("workspace", "git ignores it")


def _look_at_disk(folder: Path) -> Iterator[DoctorFinding]:
    free = shutil.disk_usage(folder).free
    told = f"{free / 1e9:,.1f} GB are free on its disk"
    if free < NO_DISK:
        yield fault("workspace", told, "Make room: nothing can be recorded on a full disk.")
    elif free < LITTLE_DISK:
        yield warning("workspace", told, "Make room soon.")
    else:
        yield ok("workspace", told)
    if (kind := _filesystem(folder)) in _SHARED:
        told = f"{folder} is on {kind}, over a network, where SQLite's locks may not hold."
        yield warning("workspace", told, "Keep it on a local disk, or use PostgreSQL: docs/how-to/postgresql.md.")


def _filesystem(folder: Path) -> str | None:
    """Of which kind the file system is, where the system lists them."""
    if sys.platform != "linux":
        return None
    found: dict[Path, str] = {}
    for line in Path("/proc/self/mounts").read_text().splitlines():
        fields = line.split()
        found[Path(fields[1].encode().decode("unicode_escape"))] = fields[2]
    return next((found[each] for each in (folder, *folder.parents) if each in found), None)


# ---- The store


async def look_at_store(place: ServerWorkspace) -> list[DoctorFinding]:
    """Whether the logs can be read, and what was left behind."""
    if place.is_embedded:
        try:
            found = check_store(place.state, _old(place))
        except Refused as error:  # it says which Quire to use
            return [fault("store", str(error))]
        if found is None:
            return []
        blobs = list(_files(place.state / "blobs"))
        seen = list(_look_at_checkup(found))
        if found.sizes is not None:
            seen += _look_at_sizes(found.sizes, len(blobs), sum(blobs), place)
        return seen
    workspace = await connect_store(place.where)
    try:
        answers = ok("store", f"{place.shown} answers: {len(await workspace.logs())} logs")
        return [answers, *_look_at_sizes(*await workspace.sizes(_age(place)), place)]
    finally:
        await workspace.close()


def _look_at_checkup(found: Checkup) -> Iterator[DoctorFinding]:
    told = f"{found.path}: {found.events:,} events, {found.size / 1e6:,.1f} MB, SQLite {found.sqlite}"
    if found.fault is not None:
        next = "Restore a backup (docs/how-to/operate.md); `quire verify` names the logs that are whole."
        yield fault("store", f"{told}; it is damaged: {found.fault}", next)
        return
    yield ok("store", told)
    yield from _look_at_clock(found.newest_at)
    yield from _look_at_leases(found)


def _age(place: ServerWorkspace) -> str:
    """How old runs have to be for what is told of old ones: as they are kept, or a month."""
    from ..settings import read_runs

    with contextlib.suppress(QuireError):  # what is wrong with a setting is told where settings are looked at
        return read_runs(place.home).keep or OLD
    return OLD


def _old(place: ServerWorkspace) -> str:
    from ....workspace.clock import now
    from ....workspace.prune_runs import before_of

    return before_of(_age(place), now())


def _look_at_sizes(sizes: Sizes, blobs: int, blob_bytes: int, place: ServerWorkspace) -> Iterator[DoctorFinding]:
    """What takes how much room."""
    logs = f"{counted(sizes.notebooks, 'notebook')}, {counted(sizes.runs, 'run')}, {sizes.pruned:,} pruned"
    events = f"{counted(sizes.events, 'event')} of {sized(sizes.event_bytes)}"
    free = f" ({sized(sizes.free_bytes)} of it free)" if sizes.free_bytes else ""
    yield ok("sizes", f"{logs}; {events}; database {sized(sizes.database_bytes)}{free}")
    spooled = list(_files(place.state / "spool"))
    yield ok("sizes", f"{counted(blobs, 'blob')} of {sized(blob_bytes)}; spool {sized(sum(spooled))}")
    if sizes.old_runs:
        age = _age(place)
        told = f"{counted(sizes.old_runs, 'run')} older than {age}, with {sized(sizes.old_bytes)} of events"
        yield ok("sizes", f"{told}: `quire runs prune --older-than {age} --dry-run` says what could go")


def _files(folder: Path) -> Iterator[int]:
    """The sizes of the files in a folder; those that go meanwhile do not count."""
    for path, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                yield (Path(path) / name).stat().st_size


def _look_at_clock(newest: str | None) -> Iterator[DoctorFinding]:
    now = datetime.now(UTC)
    if newest is not None and datetime.fromisoformat(newest) > now + CLOCK:
        told = f"The clock says {now:%Y-%m-%d %H:%M} UTC, and the last event was at {newest[:16]} UTC."
        yield fault("clock", told, "Set the clock, or let it be set: timedatectl set-ntp true.")
    else:
        yield ok("clock", f"{now:%Y-%m-%d %H:%M} UTC, after the last event")


def _look_at_leases(found: Checkup) -> Iterator[DoctorFinding]:
    lost = [
        each
        for each in found.leases
        if not each.name.startswith("hold:") and (is_gone(each.holder) or each.seconds_left <= 0)
    ]
    if lost:
        told = f"{len(lost)} executions or runs were left by processes that are gone ({lost[0].name})."
        yield warning("store", told, "The next verb ends them as lost: `quire runs list`.")
    if (full := full_room(found.leases)) is not None:
        yield warning("runtimes", f"A cell {full.why}.", "Stop a runtime, or set most_runtimes higher in quire.toml.")
    living = [each for each in found.leases if each.name.startswith("hold:runtime:") and not is_gone(each.holder)]
    for each in living:
        process = each.holder.split("-")[2:3] or ["elsewhere"]
        yield ok("runtimes", f"Notebook {each.name.removeprefix('hold:runtime:')} is served by process {process[0]}")


# ---- The server


def look_at_server(place: ServerWorkspace) -> Iterator[DoctorFinding]:
    """Whether the one that says it is there is there."""
    told = server_file.read(place.state)
    if told is None:
        if (place.state / server_file.FILE).exists():
            next = f"rm {place.state / server_file.FILE}"
            yield warning("server", f"{place.state / server_file.FILE} cannot be read.", next)
        else:
            yield ok("server", "None is running here (`quire serve` starts one)")
    elif told.is_gone:
        next = "Start another: `quire serve`. It takes the place of the file that is left."
        yield warning("server", f"The server at {told.url} (process {told.pid}) ended without a word.", next)
    else:
        yield _asked(told.address, told.url)


def look_at_address(url: str) -> Iterator[DoctorFinding]:
    """A server elsewhere."""
    yield _asked(url.rstrip("/"), url)


def _asked(address: str, shown: str) -> DoctorFinding:
    try:
        # The scheme is http or https: ours, or what was looked at before.
        with urllib.request.urlopen(f"{address}/health", timeout=HEALTH_SECONDS) as answer:  # noqa: S310
            found: Any = json.loads(answer.read(10_000))
        return ok("server", f"{shown} is well, Quire {found['version']}")
    except (OSError, ValueError, KeyError, TypeError, QuireError) as error:
        next = "Look at what it prints, or take its place: `quire serve --take-over`."
        return fault("server", f"{shown} does not answer: {error}", next)
