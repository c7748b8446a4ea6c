"""Every verb with `--at http://…`, as a person types it: a real server, and the same answers as at hand."""

from __future__ import annotations

import asyncio
import json
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from quire.connection import connect_store
from quire.core import events as e
from quire.core.events import Draft, KnownEvent
from quire.core.ids import ActorId, CellId, CommentId, LogId
from quire.core.notebook.notebook import Cell
from quire.core.text import source_hash
from quire.workspace.clock import new_id
from quire.workspace.local import LocalWorkspace

from ...command import QUIRE, clean_environ, run, run_process
from ...http_server import served
from ...workspace.cutting_proxy import relay

LOG = LogId("01SALES")
ALL: tuple[e.Scope, ...] = ("read", "edit", "run", "approve", "admin", "bind")
SECONDS = 240
SOURCE = """\
# %% name="load"
print("month", 10)

# %% name="score"
from quire.kernel import result
result("score", 0.94)
"""
SLOW = """\
# %%
import time
from pathlib import Path
for n in range(30):
    print("line", n, flush=True)
while not Path("go").exists():
    time.sleep(0.02)
for n in range(30, 60):
    print("line", n, flush=True)
Path("over").touch()
"""


class Done(msgspec.Struct, frozen=True):
    """How a verb ended."""

    status: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        assert self.status == 0, self.stderr
        return json.loads(self.stdout)


class At:
    """A workspace in a folder, a server for it, and a token of ada's."""

    def __init__(self, workspace: LocalWorkspace, folder: Path, elsewhere: Path, url: str, secret: str) -> None:
        self.workspace, self.folder, self.elsewhere, self.url, self.secret = workspace, folder, elsewhere, url, secret

    async def started(self, *args: str | Path, token: str | None = "", at: str | None = None) -> Process:
        """A verb in a folder that has nothing to do with the workspace; with ada's token, or another, or none."""
        env = clean_environ({} if token is None else {"QUIRE_TOKEN": token or self.secret})
        where = ["--at", at or self.url]
        return await asyncio.create_subprocess_exec(
            QUIRE, *map(str, args), *where, cwd=self.elsewhere, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=env
        )

    async def run(self, *args: str | Path, token: str | None = "", at: str | None = None, stdin: str = "") -> Done:
        """A verb in a thread beside the server; a run takes the main thread of a process, for its signals."""
        env = {} if token is None else {"QUIRE_TOKEN": token or self.secret}
        how = run_process if args[0] == "run" else run
        done = await asyncio.to_thread(how, *args, "--at", at or self.url, at=self.elsewhere, env=env, stdin=stdin)
        assert "Traceback" not in done.stderr, done.stderr
        assert self.secret not in done.stdout + done.stderr
        return Done(done.returncode, done.stdout, done.stderr)

    async def both(self, *args: str | Path) -> Done:
        """The same verb by the same bearer, over the network and at hand: they say the same."""
        far, near = await self.run(*args), await self.run(*args, at=str(self.folder))
        assert (far.status, far.stdout, far.stderr) == (near.status, near.stdout, near.stderr)
        return far

    async def say(self, *events: KnownEvent, log: LogId = LOG) -> None:
        await self.workspace.submit(log, [Draft(id=new_id(), event=event) for event in events])

    async def token(self, actor: str, *scopes: e.Scope, **limits: Any) -> str:
        return (await self.workspace.create_token(ActorId(actor), scopes, **limits)).secret


@pytest.fixture
async def at(tmp_path: Path) -> AsyncIterator[At]:
    async with served_folder(tmp_path) as made:
        yield made


@asynccontextmanager
async def served_folder(tmp_path: Path) -> AsyncGenerator[At]:
    folder, elsewhere = tmp_path / "there", tmp_path / "here"
    folder.mkdir()
    elsewhere.mkdir()
    workspace = await connect_store(folder)
    try:
        async with served(workspace) as server:
            made = At(workspace, folder, elsewhere, server.url, "")
            made.secret = await made.token("human:ada", *ALL)
            await made.say(
                e.NotebookCreated(name="sales"),
                e.CellAdded(cell=CellId("load1111"), after=None, source="key = 'sk-12345'\n", name="load"),
                e.CommentAdded(comment=CommentId("c1"), text="is sk-12345 right?"),
            )
            yield made
    finally:
        await workspace.close()


async def until(condition: Callable[[], Any]) -> Any:
    async with asyncio.timeout(SECONDS):
        while not (found := await condition()):  # noqa: ASYNC110 - another process does it
            await asyncio.sleep(0.05)
    return found


# ---- Reading


READING = [
    ("log", "sales"),
    ("log", "sales", "--json"),
    ("log", "workspace", "--json"),
    ("show", "sales"),
    ("show", "sales", "--json"),
    ("show", "sales", "--seq", "1", "--json"),
    ("show", "nowhere", "--json"),
    ("show", "a/../b", "--json"),
    ("sql", "select * from cells", "--json"),
    ("sql", "select 1 / 3.0, null, 'x', 9007199254740993", "--json"),
    ("sql", "delete from events", "--json"),
    ("verify", "--json"),
    ("verify", "sales"),
    ("token", "list", "--json"),
    ("role", "list", "--json"),
    ("proposals", "list", "--json"),
    ("runs", "list", "--json"),
]


async def test_a_verb_that_reads_says_the_same_as_at_hand(at: At) -> None:
    said = [(await at.run(*args), await at.run(*args, at=str(at.folder))) for args in READING]
    assert [(args, far, near) for args, (far, near) in zip(READING, said, strict=True) if far != near] == []


async def test_a_log_is_followed(at: At) -> None:
    process = await at.started("log", "sales", "--follow", "--json")
    assert process.stdout is not None
    seen = [json.loads(await asyncio.wait_for(process.stdout.readline(), SECONDS))["seq"] for _ in range(3)]
    await at.say(e.NotebookRenamed(name="costs"))
    line = json.loads(await asyncio.wait_for(process.stdout.readline(), SECONDS))
    assert (seen, line["seq"], line["event"]["name"]) == ([1, 2, 3], 4, "costs")
    process.terminate()
    await process.wait()


# ---- Changing


async def test_verbs_that_change_something_change_it_there(at: At) -> None:
    archived = (await at.run("archive", "sales", "--json")).json
    assert (archived["archived"], archived["seq"]) == (True, 4)
    assert (await at.run("archive", "sales", "--undo", "--json")).json["archived"] is False
    masking = ("redact", "sales", "--secret", "--why", "leaked", "--yes", "--json")
    masked = (await at.run(*masking, stdin="sk-12345\n")).json
    assert masked["redacted"] == [2, 3]
    assert "sk-12345" not in (await at.both("log", "sales", "--json")).stdout
    given = (await at.run("role", "set", "human:ada", "owner", "sales", "--json")).json
    assert given == {"actor": "human:ada", "role": "owner", "notebooks": [LOG]}
    assert "human:ada" in (await at.both("role", "list", "--json")).stdout
    assert not (at.elsewhere / ".quire").exists(), "nothing is made where the verb was typed"


async def test_a_token_made_over_the_network_opens_until_it_is_revoked(at: At) -> None:
    made = (await at.run("token", "new", "--actor", "bob", "--kind", "human", "--scope", "read", "--json")).json
    shown = await at.run("show", "sales", "--json", token=made["secret"])
    assert shown.status == 0
    refused = await at.run("archive", "sales", token=made["secret"])
    assert (refused.status, "scope 'edit'" in refused.stderr) == (3, True)
    assert made["secret"] not in (await at.both("token", "list", "--json")).stdout
    assert (await at.run("token", "revoke", made["token"])).status == 0
    gone = await at.run("show", "sales", token=made["secret"])
    assert (gone.status, "revoked" in gone.stderr) == (3, True)


async def test_a_proposal_is_shown_and_answered(at: At) -> None:
    agent = await at.workspace.bearer(
        await at.token("agent:claude", "read", "edit", on_behalf_of=ActorId("human:bob"), asks=["edit"])
    )
    for text in ("a", "b"):
        edit = e.SourceEdited(cell=CellId("load1111"), base_hash=source_hash("key = 'sk-12345'\n"), text=text)
        await agent.submit(LOG, [Draft(id=new_id(), event=edit)])
    first, second = (await at.both("proposals", "list", "--json")).json
    await at.both("proposals", "show", first["proposal"], "--json")
    assert (await at.run("proposals", "decline", first["proposal"], "--why", "no", "--json")).json[
        "state"
    ] == "declined"
    assert (await at.run("proposals", "accept", second["proposal"], "--json")).json["state"] == "accepted"
    assert (await at.workspace.read(LOG)).cells[CellId("load1111")].source in ("a", "b")
    await at.both("proposals", "list", "--all", "--json")


async def test_a_bundle_goes_from_one_server_to_another(at: At, tmp_path: Path) -> None:
    far = await at.run("export", "sales", "far.quire", "--json")
    near = await at.run("export", "sales", "near.quire", "--json", at=str(at.folder))
    assert far.json == near.json
    assert (at.elsewhere / "far.quire").read_bytes() == (at.elsewhere / "near.quire").read_bytes()
    for name in ("sales.ipynb", "sales.py"):
        assert (await at.run("export", "sales", name)).status == 0
    (tmp_path / "other").mkdir()
    async with served_folder(tmp_path / "other") as other:
        refused = await other.run("import", at.elsewhere / "far.quire")
        assert (refused.status, "is here already" in refused.stderr) == (3, True)
        taken = (await other.run("import", at.elsewhere / "sales.py", "--name", "copied", "--json")).json
        assert (await other.workspace.read(taken["log"])).name == "copied"
        begun = LogId("01OTHER")
        await other.say(e.NotebookCreated(name="other"), log=begun)
        assert (await other.run("export", "other", "other.quire")).status == 0
        carried = (await at.run("import", other.elsewhere / "other.quire", "--json")).json
        assert (carried["log"], carried["events"]) == (begun, 1)
    assert (await at.workspace.read(begun)).name == "other"


async def test_a_file_here_and_a_notebook_there_are_one(at: At) -> None:
    bound = (await at.run("bind", "sales", "sales.py", "--json")).json
    assert bound["path"] == "sales.py"
    mirroring = await at.started("mirror", "sales", "--json")
    assert mirroring.stdout is not None
    assert json.loads(await asyncio.wait_for(mirroring.stdout.readline(), SECONDS))["ready"] is True
    file = at.elsewhere / "sales.py"
    assert "sk-12345" in file.read_text()
    file.write_text(file.read_text() + "\n# %%\nmade = 'in the file'\n")

    async def came() -> Cell | None:
        cells = (await at.workspace.read(LOG)).live_cells
        return next((cell for cell in cells if "in the file" in cell.source), None)

    cell: Cell = await until(came)
    hash = source_hash(cell.source)
    await at.say(e.SourceEdited(cell=cell.id, base_hash=hash, text="made = 'from the notebook'"))

    async def went() -> bool:
        return "from the notebook" in file.read_text()

    await until(went)
    mirroring.terminate()
    await mirroring.wait()


# ---- Runs


async def test_a_run_is_made_here_and_kept_there(at: At) -> None:
    (at.elsewhere / "report.py").write_text(SOURCE)
    done = await at.run("run", "report.py", "out.ipynb", "--json")
    outcome = done.json
    assert (outcome["status"], outcome["scraps"], outcome["output"]) == ("success", {"score": 0.94}, "out.ipynb")
    run = outcome["run"]
    assert "month 10" in (at.elsewhere / "out.ipynb").read_text()
    entries = await at.workspace.entries(LogId(run))
    assert entries[0].actor == "human:ada"
    ran = [entry for entry in entries if isinstance(entry.event, e.ExecutionStarted)]
    assert [(entry.actor.partition("-")[0], entry.on_behalf_of) for entry in ran] == [("runtime:run", "human:ada")] * 2
    for args in (
        ("runs", "list", "--json"),
        ("runs", "show", run, "--json"),
        ("results", run, "--json"),
        ("output", run, "load"),
        ("output", run, "load", "--json"),
        ("output", run, "load", "--from", "-3"),
        ("output", run, "load", "--find", "month"),
        ("show", run, "--json"),
        ("show", run, "--view", "full", "--since", "2", "--budget", "400"),
        ("verify", run, "--json"),
    ):
        await at.both(*args)
    assert not (at.elsewhere / ".quire").exists()


async def test_a_run_is_cancelled_from_elsewhere(at: At) -> None:
    (at.elsewhere / "long.py").write_text("# %%\nprint('begun', flush=True)\nimport time; time.sleep(600)\n")
    running = await at.started("run", "long.py", "--json")

    async def printed() -> LogId | None:
        for info in await at.workspace.logs("run"):
            if await at.workspace.entries(info.log, types=["stream_appended"]):
                return info.log
        return None

    run: LogId = await until(printed)
    assert (await at.run("cancel", run, "--json")).json == {"run": run, "status": "cancelling"}
    out, _ = await asyncio.wait_for(running.communicate(), SECONDS)
    assert (running.returncode, json.loads(out)["status"]) == (130, "cancelled")
    notebook = await at.workspace.read(run)
    assert notebook.run is not None
    assert notebook.run.status == "cancelled"


async def test_a_run_goes_on_while_the_server_is_away(at: At) -> None:
    (at.elsewhere / "slow.py").write_text(SLOW)
    async with relay(int(at.url.rpartition(":")[2])) as line:
        running = await at.started("run", "slow.py", "--json", at=line.url)

        async def printed() -> bool:
            runs = await at.workspace.logs("run")
            return bool(runs and await at.workspace.entries(runs[0].log, types=["stream_appended"]))

        await until(printed)
        target, line.target = line.target, None
        line.cut()
        before = line.connections

        async def tried() -> bool:
            return line.connections > before + 2

        await until(tried)
        (at.elsewhere / "go").touch()

        async def printed_the_rest() -> bool:
            return (at.elsewhere / "over").exists()

        await until(printed_the_rest)
        line.target = target
        out, err = await asyncio.wait_for(running.communicate(), SECONDS)
    outcome = json.loads(out)
    assert outcome["status"] == "success", err.decode()
    assert (await at.run("output", outcome["run"], "1")).stdout == "".join(f"line {n}\n" for n in range(60))


# ---- Who may


async def test_without_a_token_it_says_how_to_get_one(at: At) -> None:
    done = await at.run("show", "sales", token=None)
    assert (done.status, "quire token new" in done.stderr, "QUIRE_TOKEN" in done.stderr) == (3, True, True)
    wrong = await at.run("show", "sales", token="quire_wrong")
    assert (wrong.status, "not known" in wrong.stderr) == (3, True)


async def test_a_server_that_is_not_there_is_unavailable(at: At) -> None:
    done = await at.run("show", "sales", "--json", at="http://127.0.0.1:9")
    assert (done.status, json.loads(done.stdout)["error"]["kind"]) == (4, "Unavailable")
    assert "quire serve" in done.stderr


async def test_a_token_is_not_sent_unencrypted_to_another_machine(at: At) -> None:
    done = await at.run("show", "sales", at="http://192.0.2.1:8765")
    assert (done.status, "https://" in done.stderr) == (3, True)
