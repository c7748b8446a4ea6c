"""A whole log in one file: how a notebook or run travels from one workspace to another.

A `.quire` bundle is a zip: `quire.json` (what it is, and the head), `log.jsonl` (one record
per line, its payload as text), `blobs/HASH`. On the way in, the chain and every blob are
verified before anything is kept; nothing that came in counts as done by an actor from here,
and nothing that was waiting there starts to run here.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from hashlib import sha256
from typing import IO, Any

import msgspec

from ..core import codec
from ..core import events as e
from ..core.chain import GENESIS, Head, Record, Verifier, digest, link
from ..core.errors import BadInput, Conflict, QuireError, Refused
from ..core.event_fields import blob_refs
from ..core.events import BlobRef, KnownEvent
from ..core.ids import WORKSPACE_LOG, EventId, LogId, check_actor, check_id, check_key, check_time
from ..core.notebook.notebook import Notebook
from ..core.notebook.reduce import Fold
from ..stores.store import Append, Blobs, LogInfo, LogKind, LogSummary, Store, UnsealedRecord
from . import clock
from .identity.identities import SYSTEM, Identity
from .log.log_state import kind_of

FORMAT = 1
MANIFEST, LOG_FILE, BLOBS = "quire.json", "log.jsonl", "blobs/"
MAX_LOG_BYTES = 1 << 30
MOST_AHEAD_SECONDS = 24 * 3600
MAX_LINE = 2 * codec.MAX_EVENT_BYTES
_CHUNK = 1 << 20
_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the same log gives the same bytes


_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    msgspec.DecodeError,
    KeyError,
    EOFError,
    NotImplementedError,
    OSError,
    ValueError,
    RuntimeError,  # an encrypted entry; RecursionError is one, too
)
"""What reading a file that is no bundle may raise."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a bundle says of itself. All of it is checked."""

    format: int
    log: LogId
    kind: LogKind
    name: str
    head: Head


class BundleContents(msgspec.Struct, frozen=True, kw_only=True):
    """What went out or came in."""

    log: LogId
    kind: LogKind
    name: str
    events: int
    blobs: int
    missing_blobs: tuple[str, ...] = ()


async def write_bundle(store: Store, blobs: Blobs, info: LogInfo, file: IO[bytes]) -> BundleContents:
    """Write a log and its blobs into `file`."""
    refs: dict[str, BlobRef] = {}
    missing: list[str] = []
    manifest = Manifest(format=FORMAT, log=info.log, kind=info.kind, name=info.name, head=info.head)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr(_entry(MANIFEST), msgspec.json.format(msgspec.json.encode(manifest)))
        with bundle.open(_entry(LOG_FILE), "w", force_zip64=True) as lines:
            async for record in _records(store, info):
                lines.write(msgspec.json.encode(record) + b"\n")
                refs.update({ref.hash: ref for ref in blob_refs(codec.entry(record).event)})
        for hash in sorted(refs):
            if await blobs.size(hash) is None:
                missing.append(hash)
                continue
            with bundle.open(_entry(BLOBS + hash), "w", force_zip64=True) as out:
                async for chunk in blobs.open(hash):
                    out.write(chunk)
    return BundleContents(
        log=info.log,
        kind=info.kind,
        name=info.name,
        events=info.head.seq,
        blobs=len(refs) - len(missing),
        missing_blobs=tuple(missing),
    )


def _entry(name: str) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo(name, _LONG_AGO)
    made.compress_type = zipfile.ZIP_DEFLATED
    return made


async def _records(store: Store, info: LogInfo) -> AsyncIterator[Record]:
    since = 0
    while since < info.head.seq and (page := await store.read(info.log, since, info.head.seq)):
        for record in page:
            yield record
        since = page[-1].seq


def carried_in(file: IO[bytes]) -> BundleContents:
    """What a bundle holds. Its chain is verified; its blobs are counted and not read."""
    try:
        with zipfile.ZipFile(file) as bundle:
            manifest, there = _manifest(bundle), set(bundle.namelist())
            refs = {ref.hash for record in _verified(bundle, manifest) for ref in blob_refs(codec.entry(record).event)}
    except _DAMAGE as error:
        raise BadInput(f"This is not a .quire bundle, or it is damaged: {error}.") from error
    missing = tuple(sorted(hash for hash in refs if BLOBS + hash not in there))
    return BundleContents(
        log=manifest.log,
        kind=manifest.kind,
        name=manifest.name,
        events=manifest.head.seq,
        blobs=len(refs) - len(missing),
        missing_blobs=missing,
    )


async def read_bundle(
    store: Store, blobs: Blobs, identity: Identity, file: IO[bytes], may_refer: Callable[[str], Awaitable[bool]]
) -> BundleContents:
    """Verify a bundle and take it in: all of it, or nothing. `may_refer`: to a blob that it does not bring along."""
    try:
        with zipfile.ZipFile(file) as bundle:
            manifest = _manifest(bundle)
            if await store.info(manifest.log) is not None:
                raise Conflict(f"Log {manifest.log} ({manifest.name!r}) is here already. Nothing was imported.")
            records = list(_verified(bundle, manifest))
            now, refs = _folded(records)
            missing = await _take_blobs(bundle, blobs, refs)
    except _DAMAGE as error:
        raise BadInput(f"This is not a .quire bundle, or it is damaged: {error}. Nothing was imported.") from error
    if any([not await may_refer(hash) for hash in missing]):
        raise Refused("The bundle refers to a blob of a notebook that you may not read. Nothing was imported.")
    await _append(store, identity, manifest, now, records)
    return BundleContents(
        log=manifest.log,
        kind=manifest.kind,
        name=now.name,
        events=len(records),
        blobs=len(refs) - len(missing),
        missing_blobs=missing,
    )


def _manifest(bundle: zipfile.ZipFile) -> Manifest:
    with bundle.open(MANIFEST) as file:
        manifest = msgspec.json.decode(file.read(_CHUNK), type=Manifest)
    if manifest.format > FORMAT:
        raise BadInput(
            f"The bundle has format {manifest.format}; this Quire knows {FORMAT}. Upgrade Quire to import it."
        )
    check_id(manifest.log, "Log")
    if manifest.log == WORKSPACE_LOG or manifest.kind == "workspace":
        raise BadInput("A bundle holds a notebook or a run, never a workspace's own log.")
    return manifest


def _verified(bundle: zipfile.ZipFile, manifest: Manifest) -> Iterator[Record]:
    verifier = Verifier(manifest.log, manifest.head)
    decode, previous = msgspec.json.Decoder(Record).decode, GENESIS
    if bundle.getinfo(LOG_FILE).file_size > MAX_LOG_BYTES:
        raise BadInput(f"The bundle's log has more than {MAX_LOG_BYTES:,} bytes. Nothing was imported.")
    with bundle.open(LOG_FILE) as lines:
        while line := lines.readline(MAX_LINE):
            record = decode(line)
            _check_envelope(record)
            if link(record, previous) != record.hash or record.seq > manifest.head.seq:
                # Not worth reading on, whatever `finish` would call it.
                raise BadInput(f"The bundle was tampered with or damaged at event {record.seq}. Nothing was imported.")
            previous = record.hash
            verifier.add(msgspec.structs.replace(record, imported=False))
            yield record
    flaw = verifier.finish()
    if flaw is not None:
        raise BadInput(f"The bundle was tampered with or damaged: {flaw.what}. Nothing was imported.")


def _check_envelope(record: Record) -> None:
    """What the workspace stamps here was stamped elsewhere: it has to look like it."""
    check_id(record.id, "Event")
    check_actor(record.actor)
    check_time(record.at, "The time of an event")
    check_id(record.type, "Event type")
    if len(record.payload) > codec.MAX_EVENT_BYTES:
        raise BadInput(f"Event {record.seq} of the bundle is too large. Nothing was imported.")
    codec.check_json(record.payload, f"Event {record.seq}")
    if record.key is not None:
        check_key(record.key)
    if record.cause is not None:
        check_id(record.cause, "Cause")
    if record.on_behalf_of is not None:
        check_actor(record.on_behalf_of)
    if record.at > clock.later(MOST_AHEAD_SECONDS):
        # Time in a log never runs backwards: one event of the year 9999 would date all that follow.
        raise BadInput(f"Event {record.seq} of the bundle is from the future ({record.at}). Nothing was imported.")


def _folded(records: list[Record]) -> tuple[Notebook, dict[str, BlobRef]]:
    folding = Fold()
    refs: dict[str, BlobRef] = {}
    try:
        for record in records:
            entry = msgspec.structs.replace(codec.entry(record), imported=True)
            folding.add(entry)
            refs.update({ref.hash: ref for ref in blob_refs(entry.event)})
    except (QuireError, LookupError, AssertionError, TypeError, ValueError) as error:
        # Sealed by a Quire, or something like it, that let in what ours would not.
        raise BadInput(f"The bundle's events do not make a notebook ({error!r}). Nothing was imported.") from error
    if folding.now.created_by is None:
        raise BadInput("The bundle's log does not begin with a notebook or a run. Nothing was imported.")
    return folding.notebook(), refs


async def _take_blobs(bundle: zipfile.ZipFile, blobs: Blobs, refs: dict[str, BlobRef]) -> tuple[str, ...]:
    there = {name.removeprefix(BLOBS) for name in bundle.namelist() if name.startswith(BLOBS)}
    if there - refs.keys():
        raise BadInput(
            f"The bundle holds a blob that no event refers to: {min(there - refs.keys())}. Nothing was imported."
        )
    for hash in sorted(there):  # all of them, before the first is kept
        if await _hash_of(_chunks(bundle, hash), refs[hash].size) != hash:
            raise BadInput(f"Blob {hash} of the bundle is not what its name says. Nothing was imported.")
    for hash in sorted(there):
        await blobs.put(_chunks(bundle, hash), limit=refs[hash].size)
    return tuple(sorted(refs.keys() - there))


async def _hash_of(chunks: AsyncIterator[bytes], most: int) -> str:
    hashed, size = sha256(), 0
    async for chunk in chunks:
        size += len(chunk)
        if size > most:
            return ""
        hashed.update(chunk)
    return hashed.hexdigest()


async def _chunks(bundle: zipfile.ZipFile, hash: str) -> AsyncIterator[bytes]:
    with bundle.open(BLOBS + hash) as file:
        while chunk := file.read(_CHUNK):
            yield chunk


async def _append(store: Store, identity: Identity, manifest: Manifest, now: Notebook, records: list[Record]) -> None:
    """Put the log in and say so in the workspace log, in one go."""
    kind = kind_of(now)
    told = e.LogImported(log=manifest.log, seq=manifest.head.seq, hash=manifest.head.hash)
    log = Append(
        log=manifest.log,
        kind=kind,
        expected=0,
        imported=tuple(records),
        records=tuple(_unsealed(event, SYSTEM) for event in _endings(now)),
        about=LogSummary(name=now.name, archived=now.archived),
    )
    while True:
        workspace = await store.info(WORKSPACE_LOG)
        note = Append(
            log=WORKSPACE_LOG,
            kind="workspace",
            expected=workspace.head.seq if workspace is not None else 0,
            records=(_unsealed(told, identity.actor, identity.on_behalf_of),),
            about=LogSummary(name="workspace"),
        )
        try:
            await store.append([log, note])
            return
        except Conflict as conflict:
            if conflict.details.get("log") != WORKSPACE_LOG:
                raise


def _unsealed(event: KnownEvent, actor: Any, on_behalf_of: Any = None) -> UnsealedRecord:
    payload = codec.encode(event)
    return UnsealedRecord(
        EventId(clock.new_id()),
        None,
        None,
        clock.now(),
        actor,
        on_behalf_of,
        codec.type_of(event),
        payload,
        digest(payload),
    )


def _endings(now: Notebook) -> Iterator[KnownEvent]:
    """What was open elsewhere is over here: no code runs because a file was imported."""
    for execution in now.executions:
        found = now.execution(execution)
        if found is not None and found.state == "queued":
            yield e.ExecutionCancelled(execution=execution, why="imported")
        elif found is not None:
            yield e.ExecutionFinished(execution=execution, epoch=found.epoch or 0, status="lost")
    if now.run is not None and now.run.is_open:
        status = "cancelled" if now.run.status == "queued" else "lost"
        yield e.RunFinished(epoch=now.run.epoch or 0, status=status)
    for proposal, made in now.proposals.items():
        if made.state == "open":
            yield e.ProposalDeclined(proposal=proposal, why="imported")
    if now.binding is not None:
        # The path was meant in another folder: here it may be the file of another notebook.
        yield e.FileBound(path=None)
