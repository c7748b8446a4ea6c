"""Write the old workspace anew. Only with the Quire of commit 95f5c4d: README.md says how."""

from __future__ import annotations

import asyncio
import io
import json
import pwd
import shutil
import sqlite3
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from quire.actors.mirror import mirror_once
from quire.core import events as e
from quire.core.events import Draft, KnownEvent
from quire.core.ids import WORKSPACE_LOG, ActorId, CellId, ExecutionId, LogId, RuntimeId
from quire.core.text import source_hash
from quire.stores.blobs.folder_blobs import FolderBlobs
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.memory_store import MemoryStore
from quire.stores.sqlite.sqlite_store import SqliteStore
from quire.workspace.clock import new_id
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace

HERE = Path(__file__).parent
NOW = "2099-01-01T00:00:00.000000Z"
"""The time of everything in it: tokens that end after 30 days are still good when a test opens it."""


async def say(workspace: LocalWorkspace, log: str, *events: KnownEvent) -> None:
    await workspace.submit(LogId(log), [Draft(id=new_id(), event=event) for event in events])


def notebook(name: str, source: str, path: str | None = None) -> list[KnownEvent]:
    cell = CellId(f"{name}-cell")
    bound = [] if path is None else [e.FileBound(path=path, format="percent")]
    return [e.NotebookCreated(name=name), e.CellAdded(cell=cell, after=None, source=source), *bound]


async def fill(folder: Path) -> dict[str, Any]:
    place = folder / ".quire"
    place.mkdir()
    owner = LocalWorkspace(SqliteStore(place / "quire.db"), FolderBlobs(place / "blobs"), now=lambda: NOW)
    secrets: dict[str, str] = {}

    async def token(label: str, actor: str, *scopes: e.Scope, **limits: Any) -> LocalWorkspace:
        made = await owner.create_token(ActorId(actor), scopes, **limits)
        secrets[label] = made.secret
        return await owner.bearer(made.secret)

    # Open to all, bound by the owner of the files.
    await say(owner, "sales", *notebook("sales", "total = 1", "sales.py"))
    await mirror_once(owner, folder, LogId("sales"))

    ada = await token("ada", "human:ada", "read", "edit", "run", "approve", "admin")
    bob = await token("bob", "human:bob", "read", "edit")
    eve = await token("eve", "human:eve", "read", "edit", "run")
    await token("limited", "human:lea", "read", "edit", notebooks=[LogId("sales")])
    agent = await token("agent", "agent:claude", "read", "edit", "run", on_behalf_of=ActorId("human:ada"))
    asking = await token("asking", "agent:shy", "read", "edit", "run", asks=["edit", "run"])
    worker = await token("worker", "runtime:worker", "read", "run")
    secrets["runtime"] = (await ada.create_runtime_token("ada-laptop", LogId("sales"))).secret
    secrets["browser"] = (await owner.sign_in((await owner.create_sign_in()).secret)).secret
    secrets["ada_browser"] = (await owner.sign_in((await ada.create_sign_in()).secret)).secret
    revoked = await token("revoked", "human:old", "read", "edit")
    assert revoked.identity.token is not None
    await say(owner, WORKSPACE_LOG, e.TokenRevoked(token=revoked.identity.token))

    # Closed, with roles, and bound by somebody who has a token.
    await say(ada, "payroll", *notebook("payroll", "salary = 4000", "payroll.py"))
    await mirror_once(owner, folder, LogId("payroll"))
    await say(
        ada,
        WORKSPACE_LOG,
        e.RoleSet(actor=ActorId("human:ada"), role="owner", notebook=LogId("payroll")),
        e.RoleSet(actor=ActorId("human:bob"), role="viewer", notebook=LogId("payroll")),
    )
    # Bound by an editor, and by an agent for somebody.
    await say(bob, "plan", *notebook("plan", "days = 5", "notes/plan.py"))
    await mirror_once(owner, folder, LogId("plan"))
    await say(agent, "draft", *notebook("draft", "first = True", "draft.py"))
    await mirror_once(owner, folder, LogId("draft"))
    # Nothing kept it from binding another log to the file of a closed notebook.
    await say(eve, "copy", *notebook("copy", "", "payroll.py"))
    await say(eve, "hidden", *notebook("hidden", "", ".config/settings.py"))

    # A run, and a proposal that waits.
    run = RuntimeId("runtime:worker")
    source = e.RunSource(notebook=LogId("sales"), seq=3)
    await say(ada, "run1", e.RunRequested(name="sales", source=source))
    await say(ada, "run1", e.CellAdded(cell=CellId("sales-cell"), after=None, source="total = 1"))
    await say(worker, "run1", e.RunClaimed(runtime=run))
    epoch = (await owner.read(LogId("run1"))).run
    assert epoch is not None
    assert epoch.epoch is not None
    await say(worker, "run1", e.RunStarted(epoch=epoch.epoch))
    await say(worker, "run1", e.RunFinished(epoch=epoch.epoch, status="success"))
    await say(
        asking,
        "sales",
        e.SourceEdited(cell=CellId("sales-cell"), text="total = 2", base_hash=source_hash("total = 1")),
    )
    await say(
        ada,
        "sales",
        e.ExecutionRequested(
            execution=ExecutionId("x1"), cell=CellId("sales-cell"), source_hash=source_hash("total = 1")
        ),
    )

    # From elsewhere, with a binding that was made there.
    elsewhere = LocalWorkspace(MemoryStore(), MemoryBlobs(), now=lambda: NOW)
    await say(elsewhere, "brought", *notebook("brought", "there = 1", "brought.py"))
    bundle = io.BytesIO()
    await elsewhere.export_bundle(LogId("brought"), bundle)
    bundle.seek(0)
    from quire.workspace import bundle as bundles

    bundles.clock = SimpleNamespace(later=lambda seconds: NOW, now=lambda: NOW, new_id=new_id)  # type: ignore[assignment]
    await owner.import_bundle(bundle)
    await owner.close()
    return {"owner": identities.owner().actor, "secrets": secrets}


def main() -> None:
    pwd.getpwuid = lambda uid: SimpleNamespace(pw_name="owner")  # type: ignore[assignment]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        known = asyncio.run(fill(folder))
        database = sqlite3.connect(folder / ".quire" / "quire.db")
        lines = [
            *(
                f"PRAGMA {name} = {database.execute(f'PRAGMA {name}').fetchone()[0]};"
                for name in ("application_id", "user_version")
            ),
            *database.iterdump(),
        ]
        (HERE / "quire.sql").write_text("\n".join(lines) + "\n")
        database.close()
        (HERE / "known.json").write_text(json.dumps(known, indent=2) + "\n")
        for name in ("files", "blobs"):
            shutil.rmtree(HERE / name, ignore_errors=True)
        if any((folder / ".quire" / "blobs").rglob("*")):
            shutil.copytree(folder / ".quire" / "blobs", HERE / "blobs")
        shutil.rmtree(folder / ".quire")
        shutil.copytree(folder, HERE / "files")


if __name__ == "__main__":
    main()
