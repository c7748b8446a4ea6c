"""Tokens, roles and proposals as people use them: one folder. Rule 3 throughout."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from quire.connection import connect, connect_store
from quire.core import events as e
from quire.core.events import Draft
from quire.core.ids import ActorId, CellId, ExecutionId, LogId
from quire.core.text import source_hash
from quire.workspace.clock import new_id
from quire.workspace.identity.approval import proposed

from ... import command
from ...command import ME, QUIRE, clean_environ

SECONDS = 240


def started(*args: str | Path, at: Path, token: str) -> subprocess.Popen[str]:
    """A process in a folder, with nothing of this process's settings."""
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [QUIRE, *map(str, args)], cwd=at, stdout=pipe, stderr=pipe, text=True, env=clean_environ({"QUIRE_TOKEN": token})
    )


def run(*args: str | Path, at: Path, token: str | None = None) -> subprocess.CompletedProcess[str]:
    return command.run(*args, at=at, env=None if token is None else {"QUIRE_TOKEN": token})


def told(*args: str | Path, at: Path, token: str | None = None) -> Any:
    done = run(*args, "--json", at=at, token=token)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def refusal(*args: str | Path, at: Path, token: str | None = None) -> str:
    done = run(*args, at=at, token=token)
    assert done.returncode == 3, (args, done.stdout, done.stderr)
    return done.stderr


def new_token(folder: Path, actor: str, *scopes: e.Scope, **limits: Any) -> str:
    """The secret of a token that the owner of the folder made: in this process, for speed."""

    async def made() -> str:
        workspace = await connect(folder)
        try:
            return (await workspace.create_token(ActorId(actor), scopes, **limits)).secret
        finally:
            await workspace.close()

    return asyncio.run(made())


def tokens(folder: Path) -> int:
    async def count() -> int:
        workspace = await connect(folder)
        try:
            return len(await workspace.tokens())
        finally:
            await workspace.close()

    return asyncio.run(count())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two notebooks, and a file to run."""
    (tmp_path / "sales.py").write_text(
        "# %%\nimport os\n\n# %%\nprint(os.environ.get('QUIRE_TOKEN', 'no token here'))\n"
    )

    async def make() -> None:
        workspace = await connect(tmp_path)
        for name in ("sales", "costs"):
            events = [e.NotebookCreated(name=name), *(e.CellAdded(cell=CellId(f"cell{n}"), after=None) for n in (1, 2))]
            await workspace.submit(LogId(f"01{name}"), [Draft(id=new_id(), event=event) for event in events])
        await workspace.close()

    asyncio.run(make())
    return tmp_path


# ---- Making, listing, revoking


def test_a_token_is_printed_once_alone_and_kept_as_a_hash(folder: Path) -> None:
    done = run("token", "new", "--actor", "claude", "--kind", "agent", "--scope", "read,edit", at=folder)
    assert re.fullmatch(r"quire_[\w-]{43}\n", done.stdout)
    assert "agent:claude" in done.stderr
    assert done.stdout.strip() not in done.stderr
    made = told("token", "new", "--actor", "human:bob", "--scope", "read", "--expires", "never", at=folder)
    assert (made["actor"], made["expires_at"], made["state"]) == ("human:bob", None, "valid")
    bob, claude = told("token", "list", at=folder)
    assert (claude["on_behalf_of"], claude["scopes"]) == (ME, ["read", "edit"])
    assert bob["token"] == made["token"]
    for secret in (done.stdout.strip(), made["secret"]):
        assert run("log", "sales", at=folder, token=secret).returncode == 0
        assert refusal("archive", "sales", at=folder, token=secret[:-1] + "-")
        assert not anywhere(folder, secret)


def anywhere(folder: Path, secret: str) -> list[Path]:
    """The files that hold a secret."""
    return [path for path in folder.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]


def test_the_secret_is_nowhere_whatever_was_done_with_it(folder: Path) -> None:
    """Also not where a cell prints its environment."""
    secret = new_token(folder, "agent:claude", "read", "edit", "run", "admin")
    shown = ""
    for verb in (
        ["run", "sales.py", "out.ipynb", "--json"],
        ["archive", "costs"],
        ["sql", "select * from events", "--json"],
        ["sql", "select * from tokens"],
        ["log", "workspace", "--json"],
        ["token", "list", "--all", "--json"],
        ["export", "sales", "sales.quire"],
        ["export", "sales", "sales.html"],
        ["show", "nowhere", "--json"],
        ["token", "revoke", secret],
        ["verify"],
    ):
        done = run(*verb, at=folder, token=secret)
        shown += done.stdout + done.stderr
    assert "no token here" in (folder / "out.ipynb").read_text()
    assert secret not in shown
    assert anywhere(folder, secret) == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--actor", "agent:x", "--scope", "raed"], "Did you mean read"),
        (["--actor", "agent:x", "--ask", "approve"], "none of edit, run"),
        (["--actor", "agent:x", "--ask", "edit"], "needs the scope 'edit'"),
        (["--actor", "agent:x", "--scope", ","], "at least one scope"),
        (["--actor", "agent:x", "--notebooks", "sale"], "Nearest: sales"),
        (["--actor", "agent:x", "--notebooks", "sales,cost"], "Nearest: costs"),
        (["--actor", "agent:x", "--on-behalf-of", f"{ME.removeprefix('human:')}x"], f"Nearest: {ME}"),
        (["--actor", "agent:x", "--expires", "soon"], "30d"),
        (["--actor", "agent:x", "--expires", "2020-01-01"], "over already"),
        (["--actor", "agent:x", "--expires", "0d"], "over already"),
        (["--actor", "claude"], "--kind agent"),
        (["--actor", "agent:x", "--kind", "human"], "leave --kind out"),
        (["--actor", "agent:a b"], "is not valid"),
        (["--actor", "x", "--kind", "system"], "system"),
        ([], "--actor"),
    ],
)
def test_what_no_token_can_be_made_from_is_named(folder: Path, arguments: list[str], says: str) -> None:
    done = run("token", "new", *arguments, at=folder)
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stdout == ""
    assert tokens(folder) == 0


def test_nobody_gets_a_token_of_the_system_or_on_behalf_of_an_agent(folder: Path) -> None:
    assert "system" in refusal("token", "new", "--actor", "system:quire", at=folder)
    new_token(folder, "agent:a", "read")
    assert "schedule" in refusal("token", "new", "--actor", "agent:b", "--on-behalf-of", "agent:a", at=folder)


def test_a_token_is_revoked_by_id_its_beginning_or_its_actor(folder: Path) -> None:
    for _ in range(2):
        new_token(folder, "agent:claude", "read")
    secret = new_token(folder, "human:bob", "read")
    newest = told("token", "list", at=folder)[0]["token"]
    assert run("show", "sales", at=folder, token=secret).returncode == 0
    assert told("token", "revoke", newest[:16], at=folder) == {"revoked": [newest]}
    assert "was revoked by human:" in refusal("show", "sales", at=folder, token=secret)
    assert run("token", "revoke", newest, at=folder).returncode == 2
    assert "Nearest: agent:claude" in run("token", "revoke", "agent:claud", at=folder).stderr
    assert "history" in run("token", "revoke", secret, at=folder).stderr
    assert len(told("token", "revoke", "agent:claude", at=folder)["revoked"]) == 2
    assert told("token", "list", at=folder) == []
    assert [each["state"] for each in told("token", "list", "--all", at=folder)] == ["revoked"] * 3


@pytest.mark.parametrize("how", ["revoked", "shut out"])
def test_a_process_that_follows_is_shut_out_at_once(folder: Path, how: str) -> None:
    """Nothing more happens in the notebook, so only the revocation itself can tell it."""
    secret = new_token(folder, "human:bob", "read")
    follower = started("log", "sales", "--follow", "--json", at=folder, token=secret)
    assert follower.stdout is not None
    assert [json.loads(follower.stdout.readline())["seq"] for _ in range(3)] == [1, 2, 3]
    if how == "revoked":
        told("token", "revoke", "human:bob", at=folder)
    else:
        new_token(folder, "human:eve", "read")
        told("role", "set", "eve", "viewer", "sales", at=folder)
    rest, said = follower.communicate(timeout=SECONDS)
    assert follower.returncode == 3
    assert ("was revoked" if how == "revoked" else "no role in") in said
    assert "seq" not in rest


def test_a_process_that_follows_ends_when_its_token_does(folder: Path) -> None:
    """Nobody says anything meanwhile: it has a look at the clock itself."""
    secret = new_token(folder, "human:bob", "read", expires_at="1s")
    assert "expired at" in refusal("log", "sales", "--follow", at=folder, token=secret)


# ---- What a token allows, verb by verb


WRITING = [
    (["run", "sales.py"], "edit"),  # it brings cells along
    (["archive", "sales"], "edit"),
    (["import", "sales.py", "--name", "new"], "edit"),
    (["redact", "sales", "--seq", "2", "--why", "x"], "admin"),
    (["token", "new", "--actor", "agent:x"], "admin"),
    (["token", "revoke", "human:bob"], "admin"),
    (["role", "set", "bob", "owner", "sales"], "admin"),
]
READING = [
    ["show", "sales"],
    ["log", "sales"],
    ["log", "workspace"],
    ["sql", "select 1"],
    ["verify"],
    ["export", "sales", "out.ipynb"],
    ["export", "sales", "out.quire"],
    ["runs", "list"],
    ["results", "01"],
    ["output", "sales", "1"],
    ["cancel", "sales"],
    ["token", "list"],
    ["role", "list"],
    ["proposals", "list"],
    ["proposals", "accept", "01"],
]


def test_each_verb_that_changes_something_names_the_scope_it_needs(folder: Path) -> None:
    secret = new_token(folder, "human:bob", "read")
    for verb, scope in WRITING:
        said = refusal(*verb, at=folder, token=secret)
        assert said.startswith("quire: human:bob may not"), said
        assert f"the scope {scope!r}" in said
        assert "quire token new" in said
    assert "the scope 'run'" in refusal(
        "run", "sales.py", at=folder, token=new_token(folder, "human:bob", "read", "edit")
    )
    (events,) = told("sql", "select count(*) as n from events where log <> 'workspace'", at=folder)
    assert events["n"] == 6


def test_each_verb_that_reads_needs_the_scope_for_it(folder: Path) -> None:
    secret = new_token(folder, "human:bob", "edit", "run", "approve", "admin")
    for verb in READING:
        assert "the scope 'read'" in refusal(*verb, at=folder, token=secret), verb
    assert not list(folder.glob("out*"))


def test_a_token_for_one_notebook_knows_no_other(folder: Path) -> None:
    secret = new_token(folder, "human:bob", "read", "edit", "run", "approve", "admin", notebooks=[LogId("01sales")])
    assert run("show", "sales", at=folder, token=secret).returncode == 0
    assert told("archive", "sales", at=folder, token=secret)["archived"] is True
    for verb in (["show", "costs"], ["log", "costs"], ["archive", "costs"], ["export", "costs", "out.ipynb"]):
        done = run(*verb, at=folder, token=secret)
        assert done.returncode == 2
        assert "There is no notebook" in done.stderr
        assert "Nearest: costs" not in done.stderr
    for verb in (["sql", "select 1"], ["run", "sales.py"], ["token", "new", "--actor", "agent:x"], ["token", "list"]):
        assert "for other notebooks" in (said := refusal(*verb, at=folder, token=secret)) or "some notebooks" in said
    assert "costs" not in run("verify", at=folder, token=secret).stdout


def test_who_does_not_know_a_token_is_told_so_and_nothing_else(folder: Path) -> None:
    for wrong in ("", "quire_guess", "x" * 5000):
        said = refusal("show", "sales", at=folder, token=wrong)
        assert "not known in this workspace" in said
        assert "guess" not in said


# ---- Roles


def test_roles_close_a_notebook_and_open_it_again(folder: Path) -> None:
    bob, eve = (new_token(folder, f"human:{name}", "read", "edit") for name in ("bob", "eve"))
    assert "Nearest: human:bob" in run("role", "set", "bobb", "viewer", "sales", at=folder).stderr
    assert run("role", "set", "bob", "viewer", at=folder).returncode == 2
    assert run("role", "set", "bob", "king", "sales", at=folder).returncode == 2
    done = run("role", "set", "bob", "viewer", "sales", at=folder)
    assert "was open" in done.stderr
    assert "where the role is viewer" in refusal("archive", "sales", at=folder, token=bob)
    assert run("show", "sales", at=folder, token=eve).returncode == 2
    listed = told("role", "list", "sales", at=folder)
    assert [(each["actor"], each["role"], each["by"]) for each in listed] == [
        (ME, "owner", "made"),
        ("human:bob", "viewer", "given"),
    ]
    told("role", "set", "bob", "editor", "--all", at=folder)
    assert "where the role is viewer" in refusal("archive", "sales", at=folder, token=bob)
    told("archive", "costs", at=folder, token=bob)
    assert "open again" in run("role", "set", "bob", "none", "sales", at=folder).stderr
    told("archive", "sales", at=folder, token=eve)


# ---- Proposals


@pytest.fixture
def asked(folder: Path) -> tuple[Path, str, str]:
    """The folder, the token of an agent that had to ask, and the proposal that came of it."""
    secret = new_token(folder, "agent:claude", "read", "edit", "run", asks=["edit", "run"])

    async def ask() -> str:
        workspace = await (await connect_store(folder)).bearer(secret)
        log = (await workspace.find("sales")).log
        events = (
            e.CellAdded(cell=CellId("new11111"), after=None, source="print('\x1b[31mhi')\nimport shutil"),
            e.ExecutionRequested(
                execution=ExecutionId("x1"),
                cell=CellId("new11111"),
                source_hash=source_hash("print('\x1b[31mhi')\nimport shutil"),
            ),
        )
        drafts = [Draft(id=new_id(), event=event) for event in events]
        made = proposed(drafts, await workspace.submit(LogId(log), drafts))
        await workspace.close()
        assert made is not None
        return made.proposal

    return folder, secret, asyncio.run(ask())


def test_a_proposal_is_listed_shown_in_full_and_accepted_by_somebody_else(asked: tuple[Path, str, str]) -> None:
    folder, agent, proposal = asked
    (listed,) = told("proposals", "list", at=folder)
    assert (listed["proposal"], listed["by"], listed["on_behalf_of"]) == (proposal, "agent:claude", ME)
    shown = run("proposals", "show", proposal[:20], at=folder)
    assert "import shutil" in shown.stdout
    assert "run new11111" in shown.stdout
    assert "\x1b" not in shown.stdout
    assert f"quire proposals accept {proposal}" in shown.stderr
    said = refusal("proposals", "accept", proposal, at=folder)
    assert "QUIRE_TOKEN" in said
    assert "--scope read,approve" in said
    assert "approve" in refusal("proposals", "decline", proposal, at=folder)
    assert "approve" in refusal("proposals", "accept", proposal, at=folder, token=agent)
    human = new_token(folder, ME, "read", "approve")
    assert told("proposals", "accept", proposal, at=folder, token=human)["state"] == "accepted"
    assert "new11111" in run("show", "sales", at=folder).stdout
    assert refusal("proposals", "accept", proposal, at=folder, token=human)
    assert told("proposals", "list", at=folder) == []
    (over,) = told("proposals", "list", "sales", "--all", at=folder)
    assert (over["state"], over["decided_by"]) == ("accepted", ME)
    assert "import shutil" in run("proposals", "show", proposal, at=folder).stdout, "the log still has it"


def test_a_part_is_accepted_and_the_rest_is_not(asked: tuple[Path, str, str]) -> None:
    folder, _, proposal = asked
    human = new_token(folder, "human:bob", "read", "approve")
    assert run("proposals", "accept", proposal, "--only", "3", at=folder, token=human).returncode == 2
    told("proposals", "accept", proposal, "--only", "1", at=folder, token=human)
    assert "queued" not in run("show", "sales", at=folder).stdout


def test_a_proposal_is_declined_and_an_unknown_one_is_not_found(asked: tuple[Path, str, str]) -> None:
    folder, _, proposal = asked
    human = new_token(folder, "human:bob", "read", "approve")
    assert told("proposals", "decline", proposal, "--why", "no", at=folder, token=human)["state"] == "declined"
    assert "new11111" not in run("show", "sales", at=folder).stdout
    for verb in ("show", "accept", "decline"):
        done = run("proposals", verb, "nowhere", at=folder, token=human)
        assert done.returncode == 2
        assert "no proposal" in done.stderr


def test_what_cannot_be_proposed_is_refused_in_words(asked: tuple[Path, str, str]) -> None:
    folder, agent, _ = asked
    for verb in (["archive", "sales"], ["run", "sales.py"], ["import", "sales.py", "--name", "new"]):
        assert "has to ask" in refusal(*verb, at=folder, token=agent)
