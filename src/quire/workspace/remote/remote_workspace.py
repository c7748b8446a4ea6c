"""A workspace behind a server: the same methods, over HTTP, and over a socket for what is followed.

The server checks and decides everything; here is only how it is asked. docs/reference/http.md and
docs/reference/socket.md describe the other side.
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any, Self

import msgspec

from ...core import codec
from ...core.edits.undo_plan import UndoPlan
from ...core.errors import QuireError, Refused
from ...core.event_fields import check_drafts
from ...core.events import BlobRef, Draft, Entry, Scope
from ...core.ids import ActorId, ExecutionId, LogId, check_id
from ...core.notebook.directory import Directory
from ...core.notebook.notebook import Notebook
from ...stores.store import PAGE, Growth, LogInfo, LogKind, ReadMark, Table
from ..bundle import BundleContents
from ..identity.identities import Identity
from ..identity.tokens import ListedToken, NewToken
from ..lanes.runtime_info import PromptAnswer, RuntimeFound
from ..log.leases import LEASE_SECONDS, LONG_LEASE_SECONDS
from ..log.locks import Hold
from ..log.log_lookup import pick
from ..protocol import Claim, HeldClaim, LogVerification, UndoOutcome
from ..prune_runs import PrunePlan, PruneStep
from ..wire import bodies, frames
from . import blob_transfer
from .http_client import ANSWER_BYTES, PATIENT, PAUSES, READ_SECONDS, Calls, path, waited_for
from .network_errors import unexpected
from .remote_lanes import RemoteLanes
from .server_address import check_secret, read_address
from .socket_client import Socket
from .stream_state import FeedStream, LogStream

if TYPE_CHECKING:
    from ..local import LocalWorkspace
    from ..log.lock_renewal import KeptHold

CLOSE_SECONDS = 2.0
"""How long closing may take for the sake of good order."""


class RemoteWorkspace:
    """A workspace whose store is with a server."""

    def __init__(self, calls: Calls, secret: str, identity: Identity) -> None:
        self.identity = identity
        self._calls = calls
        self._socket = Socket(calls.address, secret, self._me, calls.tls)
        self._lanes = RemoteLanes(self._socket)
        self._runtimes: list[RemoteWorkspace] = []

    @classmethod
    async def open(
        cls,
        url: str,
        secret: str,
        *,
        allow_http: bool = False,
        answer_bytes: int = ANSWER_BYTES,
        pauses: Sequence[float] = PAUSES,
        wait_seconds: float = 0,
        tell: Callable[[str], None] = lambda message: None,
    ) -> Self:
        """Ask the server at `url` who the bearer of the token is, and be that one there.

        A server, or its database, that is away is waited for, `wait_seconds` at most, which `tell` is told.
        """
        token = check_secret(secret)
        calls = Calls(read_address(url, allow_http=allow_http), token, answer_bytes, pauses)
        try:
            me = await waited_for(lambda: calls.ask("GET", path("me"), frames.Me), wait_seconds, tell)
        except BaseException:
            await calls.close()
            raise
        return cls(calls, token, frames.identity_of(me))

    @property
    def store_address(self) -> str:
        """Empty: the store is the server's."""
        return ""

    @property
    def lease_seconds(self) -> float:
        """How long a runtime here claims for: the network may be cut for a minute or two."""
        return LONG_LEASE_SECONDS

    @property
    def lanes(self) -> RemoteLanes:
        """What is said and not kept."""
        return self._lanes

    @property
    def carries_lanes(self) -> bool:
        """Whether others hear what is said on lanes here: whoever is at the server."""
        return True

    async def carry_lanes(self, log: LogId | None = None) -> None:
        """Return at once: the lanes lead to the server by themselves."""

    def beside_store(self) -> LocalWorkspace:
        """Refuse: only the server is beside its store."""
        raise Refused(
            f"{self._calls.address.url} is a server, and this is done beside the store. Do it on its machine."
        )

    def runtime_name(self, wanted: str) -> str:
        """Return the name for a runtime of this process: as wanted, or that of the machine, which is the same the next time."""
        return re.sub(r"[^!-9;-~]", "-", wanted or socket.gethostname())[:100] or "here"

    async def as_mirror(self, log: LogId) -> RemoteWorkspace:
        """The same workspace: who mirrors files of their own into a server does it as the bearer of their token."""
        return self

    async def as_runtime(self, name: str, log: LogId) -> RemoteWorkspace:
        """The same workspace for a runtime of the bearer's, in one log, with a token of its own."""
        wanted = bodies.RuntimeWanted(name=name, log=log)
        made = await self._calls.ask("POST", path("runtimes"), NewToken, body=wanted, once=True)
        url = self._calls.address.url
        runtime = await RemoteWorkspace.open(url, made.secret, allow_http=True, pauses=PATIENT)
        self._runtimes.append(runtime)
        return runtime

    async def _give_up_token(self) -> None:
        """Leave nothing behind that opens anything. A server that is away just now lets it run out."""
        with suppress(QuireError, TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._calls.tell(path("runtimes", "end"))

    async def _me(self) -> frames.Me:
        return await self._calls.ask("GET", path("me"), frames.Me)

    # ---- Runtimes

    async def count_runtime(self, log: LogId, runtime: ActorId) -> KeptHold | None:
        """None: a server counts a runtime by what that says of itself."""
        return None

    async def runtimes(self, log: LogId) -> list[RuntimeFound]:
        """Return the runtimes that are attached to a log, with what they said last of how they are."""
        return await self._calls.ask("GET", path("logs", _checked(log), "runtimes"), list[RuntimeFound])

    async def answer_input(self, log: LogId, execution: ExecutionId, given: PromptAnswer) -> Entry:
        """Answer what a cell asks. A password is told to its runtime and recorded nowhere."""
        check_id(execution, "Execution")
        asked = path("logs", _checked(log), "executions", execution, "input")
        body = bodies.InputGiven(answer=given.answer, prompt=given.prompt, password=given.password)
        answer = await self._calls.ask("POST", asked, frames.SubmissionOutcome, body=body)
        return frames.to_entry(answer.entries[0])

    # ---- Writing

    async def submit(self, log: LogId, drafts: Sequence[Draft], *, lease_seconds: float | None = None) -> list[Entry]:
        """Record the drafts in this order, all or none, and return them as recorded.

        Of a bearer who has to ask, they become one proposal, which is returned instead.
        """
        check_drafts(log, drafts)
        body: dict[str, Any] = {"drafts": [_on_wire(draft) for draft in drafts]}
        if lease_seconds is not None:
            body["lease_seconds"] = lease_seconds
        # Sent again after a connection was lost, they have the same ids: what was recorded then is the answer.
        answer = await self._calls.ask("POST", path("logs", log, "events"), frames.SubmissionOutcome, body=body)
        if not answer.entries:
            raise unexpected(self._calls.address, "Something was recorded, and it does not say what")
        return [frames.to_entry(entry) for entry in answer.entries]

    async def plan_undo(self, log: LogId, by: ActorId, since: int = 0) -> UndoPlan:
        """Plan the undo of what an actor did to the cells of a notebook after a number."""
        asked = path("notebooks", _checked(log), "undo")
        return await self._calls.ask("GET", asked, UndoPlan, params={"by": by, "since": since})

    async def undo(self, log: LogId, by: ActorId, since: int = 0, *, seq: int | None = None) -> UndoOutcome:
        """Take back what an actor did to the cells of a notebook after a number, all or none of it."""
        body = bodies.UndoWanted(by=by, since=since, seq=seq)
        asked = path("notebooks", _checked(log), "undo")
        done = await self._calls.ask("POST", asked, bodies.UndoDone, body=body, once=True)
        return UndoOutcome(plan=done.plan, entries=[frames.to_entry(entry) for entry in done.entries])

    # ---- Reading

    async def read(self, log: LogId, seq: int | None = None) -> Notebook:
        """Return a notebook or run as it is, or as it was at an earlier number."""
        return await self._calls.ask("GET", path("notebooks", _checked(log)), Notebook, params={"seq": seq})

    async def directory(self) -> Directory:
        """Return what is true across notebooks."""
        return await self._calls.ask("GET", path("directory"), Directory)

    async def entries(
        self,
        log: LogId,
        since: int = 0,
        until: int | None = None,
        *,
        limit: int = 2000,
        types: Collection[str] | None = None,
        newest_first: bool = False,
    ) -> list[Entry]:
        """Return entries with since < seq <= until, in order or the last ones first, at most `limit`."""
        found: list[Entry] = []
        params: dict[str, Any] = {"newest_first": "true"} if newest_first else {}
        if types is not None:
            params["types"] = ",".join(types)
        while len(found) < limit:
            params |= {"since": since, "until": until, "limit": min(limit - len(found), PAGE)}
            page = await self._calls.ask("GET", path("logs", _checked(log), "events"), frames.LogPage, params=params)
            found += [frames.to_entry(entry) for entry in page.entries]
            if not page.more or not page.entries:
                break
            last = page.entries[-1].seq
            since, until = (since, last - 1) if newest_first else (last, until)
        return found

    async def seen(self, log: LogId) -> ReadMark | None:
        """Return how far whoever asks has seen a log; None when they never said."""
        found = await self._calls.ask("GET", path("notebooks", _checked(log), "seen"), bodies.SeenFound)
        return None if found.at is None else ReadMark(log, self.identity.actor, found.seq, found.at)

    async def mark_seen(self, log: LogId, seq: int) -> ReadMark:
        """Keep that whoever asks has seen a log up to a number: only forwards, and nobody else is told."""
        asked, body = path("notebooks", _checked(log), "seen"), bodies.SeenUpTo(seq=seq)
        kept = await self._calls.ask("PUT", asked, bodies.SeenFound, body=body)
        return ReadMark(log, self.identity.actor, kept.seq, kept.at or "")

    def follow(self, log: LogId, since: int = 0) -> AsyncIterator[list[Entry]]:
        """Yield the entries after `since`, and then whatever comes, for ever; Refused once that is no longer allowed."""
        return self._socket.pages(LogStream(_checked(log), since))

    async def feed(self, since: int | None = None) -> AsyncIterator[list[Growth]]:
        """Yield which logs grow, from now or from a position on, for ever."""
        if since is None:
            since = (await self._calls.ask("GET", path("feed"), frames.FeedPage)).position
        async for page in self._socket.pages(FeedStream(since)):
            yield page

    async def logs(self, kind: LogKind | None = None) -> list[LogInfo]:
        """Return the logs, the one begun last first."""
        return await self._calls.ask("GET", path("logs"), list[LogInfo], params={"kind": kind})

    async def find(self, name: str) -> LogInfo:
        """Return the one log of that id, name or beginning of an id."""
        if name.strip(".") and name.isprintable() and not set(name) & set("/\\"):
            return await self._calls.ask("GET", path("logs", name), LogInfo)
        return pick(name, await self.logs())  # what a path cannot carry

    async def bound_to(self, path: str) -> LogId | None:
        """Return the notebook that is bound to a file. Needs to read everything."""
        quoted = path.replace("'", "''")
        found = await self.query(f"SELECT log FROM bindings WHERE path = '{quoted}'", limit=1)  # noqa: S608 - quoted
        return LogId(found.rows[0][0]) if found.rows else None

    # ---- Blobs, leases, queries

    async def put_blob(self, data: bytes | AsyncIterable[bytes], media: str | None = None) -> BlobRef:
        """Keep large bytes and return what an event refers to them by."""
        return await blob_transfer.put_blob(self._calls, data, media)

    def open_blob(self, hash: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Yield the bytes of a blob that a notebook refers to which they may read, or a range of them."""
        return blob_transfer.open_blob(self._calls, hash, start, end)

    async def read_blob(self, hash: str) -> bytes:
        """Return the bytes of such a blob, all of them."""
        return b"".join([chunk async for chunk in self.open_blob(hash)])

    async def renew(self, log: LogId, claim: Claim, seconds: float = LEASE_SECONDS) -> None:
        """Hold on to what was claimed, so many seconds from now, also if it lapsed; Conflict when it is lost."""
        body = bodies.RenewBody(claim=claim, seconds=seconds)
        await self._calls.tell(path("logs", _checked(log), "renew"), body=body)

    async def release(self, log: LogId, claim: Claim) -> None:
        """Give back what was claimed, when the work is over."""
        await self._calls.tell(path("logs", _checked(log), "release"), body=bodies.ReleaseBody(claim=claim))

    async def claims(self) -> list[HeldClaim]:
        """Return what is claimed by whomever, and what was and is lost."""
        return await self._calls.ask("GET", path("claims"), list[HeldClaim])

    async def why_waiting(self, log: LogId) -> str | None:
        """Return why what waits in a log is not run, if that is for want of room for a runtime."""
        found = await self._calls.ask("GET", path("logs", _checked(log), "waiting"), bodies.WhyWaiting)
        return found.why

    async def query(self, sql: str, *, limit: int = 10_000, seconds: float = 30) -> Table:
        """Answer a question over the documented views. Cannot change anything."""
        body = bodies.Question(sql=sql, limit=limit, seconds=seconds)
        return await self._calls.ask("POST", path("query"), Table, body=body, seconds=seconds + READ_SECONDS)

    async def hold(self, name: str, seconds: float = LEASE_SECONDS) -> Hold | None:
        """Be the only process that does what has this name; None while another one does."""
        body = bodies.HoldWanted(name=name, seconds=min(seconds, 3600.0))
        return await self._calls.ask("POST", path("holds"), Hold | None, body=body, once=True)  # pyright: ignore

    async def let_go(self, hold: Hold) -> None:
        """Give back what was held."""
        await self._calls.tell(path("holds", "release"), body=bodies.HoldReleased(hold=hold))

    async def propose(
        self, run: LogId, why: str, here: Callable[[], Awaitable[bodies.RunProposed]]
    ) -> bodies.RunProposed:
        """Propose to the source of a run what was changed in it: the files are the server's."""
        asked = path("runs", _checked(run), "propose")
        return await self._calls.ask("POST", asked, bodies.RunProposed, body=bodies.Reason(why=why), once=True)

    # ---- Trust

    async def verify(self, logs: Sequence[LogId] | None = None) -> AsyncIterator[LogVerification]:
        """Check the chains of these logs (of all when None), one by one."""
        body = bodies.VerifyBody(logs=None if logs is None else tuple(logs))
        async with self._calls.opened("POST", path("verify"), body=body, seconds=600) as response:
            async for line in self._calls.lines(response):
                yield self._calls.read_line(line, LogVerification)

    async def forget_snapshots(self, log: LogId) -> None:
        """Throw away the snapshots of a log; they are made anew from it."""
        await self._calls.tell(path("logs", _checked(log), "forget-snapshots"))

    async def redact(self, log: LogId, seqs: Sequence[int], why: str, *, secret: str | None = None) -> list[Entry]:
        """Mask what events said, all of it or wherever `secret` stands; that they happened stays."""
        body = bodies.RedactBody(seqs=tuple(seqs), why=why, secret=secret)
        answer = await self._calls.ask(
            "POST",
            path("logs", _checked(log), "redactions"),
            frames.SubmissionOutcome,
            body=body,
            once=True,
            seconds=600,
        )
        return [frames.to_entry(entry) for entry in answer.entries]

    async def holding(self, log: LogId, secret: str) -> list[int]:
        """Return the numbers of the events that hold a secret, in what they say or in a blob."""
        asked = path("logs", _checked(log), "holding")
        found = await self._calls.ask(
            "POST", asked, bodies.SecretEvents, body=bodies.FindSecretBody(secret=secret), seconds=600
        )
        return found.seqs

    async def plan_prune(self, older_than: str, keep_last: int = 0) -> PrunePlan:
        """Look which runs that are so old (30d), or from before a time, may go. Needs `admin`."""
        body = bodies.PruneBody(older_than=older_than, keep_last=keep_last)
        return await self._calls.ask("POST", path("prune", "plan"), PrunePlan, body=body, seconds=600)

    async def prune(
        self, older_than: str, keep_last: int = 0, *, only: Collection[LogId] | None = None
    ) -> AsyncIterator[PruneStep]:
        """Remove such runs (of those in `only`), the blobs that nothing refers to then, and their room on disk."""
        body = bodies.PruneBody(older_than=older_than, keep_last=keep_last, only=None if only is None else tuple(only))
        async with self._calls.opened("POST", path("prune"), body=body, seconds=3600) as response:
            async for line in self._calls.lines(response):
                yield self._calls.read_line(line, PruneStep)

    # ---- Carrying whole logs

    async def export_bundle(self, log: LogId, file: IO[bytes]) -> BundleContents:
        """Write a log with its blobs as a bundle."""
        return await blob_transfer.export_bundle(self._calls, _checked(log), file)

    async def import_bundle(self, file: IO[bytes]) -> BundleContents:
        """Take in a bundle, verified; what it tells of is shown as imported."""
        return await blob_transfer.import_bundle(self._calls, file)

    # ---- Tokens

    async def create_token(
        self,
        actor: ActorId,
        scopes: Collection[Scope],
        *,
        on_behalf_of: ActorId | None = None,
        notebooks: Collection[LogId] | None = None,
        expires_at: str | None = None,
        asks: Collection[Scope] = (),
    ) -> NewToken:
        """Make a token for an actor, good until a time (ISO 8601) or for so long (30d, 8h)."""
        body = bodies.TokenWanted(
            actor=actor,
            scopes=tuple(scopes),
            on_behalf_of=on_behalf_of,
            notebooks=None if notebooks is None else tuple(notebooks),
            expires_at=expires_at,
            asks=tuple(asks),
        )
        return await self._calls.ask("POST", path("tokens"), NewToken, body=body, once=True)

    async def create_sign_in(self) -> NewToken:
        """Make a token that signs a browser in as whoever asks: once, and within minutes."""
        return await self._calls.ask("POST", path("sign-ins"), NewToken, once=True)

    async def tokens(self) -> list[ListedToken]:
        """Return what was made for whom, without secrets, the newest first."""
        return await self._calls.ask("GET", path("tokens"), list[ListedToken])

    async def close(self) -> None:
        """Finish what is going on and let go."""
        while self._runtimes:
            runtime = self._runtimes.pop()
            await runtime._give_up_token()
            await runtime.close()
        await self._socket.close()
        await self._calls.close()


def _checked(log: LogId) -> LogId:
    check_id(log, "Log")
    return log


def _on_wire(draft: Draft) -> dict[str, Any]:
    """A draft as it is sent. What cannot be written as JSON is told here, as a workspace at hand would tell it."""
    fields = {"id": draft.id, "key": draft.key, "cause": draft.cause}
    event = msgspec.Raw(codec.encode(draft.event).encode())
    return {name: value for name, value in fields.items() if value is not None} | {"event": event}
