"""Tokens of runtimes, and parents of tokens, as people see them on the command line. Rule 3."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from quire.connection import connect, connect_store
from quire.core.ids import ActorId, LogId

from .test_token_verb import folder, new_token, refusal, run, told

__all__ = ["folder"]  # a fixture


def test_a_token_of_a_runtime_serves_unless_said_otherwise(folder: Path) -> None:
    made = told("token", "new", "--actor", "gpu", "--kind", "runtime", "--notebooks", "sales", at=folder)
    assert (made["actor"], made["scopes"], made["notebooks"]) == ("runtime:gpu", ["read", "serve"], ["01sales"])
    reader = told("token", "new", "--actor", "runtime:dashboards", "--scope", "read", at=folder)
    assert reader["scopes"] == ["read"]
    assert told("token", "new", "--actor", "human:bob", at=folder)["scopes"] == ["read"]


@pytest.mark.parametrize("scope", ["read,run", "run", "read,serve,edit", "read,admin"])
def test_a_runtime_that_is_to_ask_is_refused_with_the_next_step(folder: Path, scope: str) -> None:
    why = refusal("token", "new", "--actor", "gpu", "--kind", "runtime", "--scope", scope, at=folder)
    assert "`quire token new --actor gpu --kind runtime --scope read,serve`" in why
    assert "`quire token new --actor gpu --kind agent --scope read,edit,run`" in why
    assert told("token", "list", "--all", at=folder) == []


def test_a_token_to_approve_is_refused_to_all_but_humans_and_says_why(folder: Path) -> None:
    for actor in ("agent:claude", "schedule:nightly"):
        why = refusal("token", "new", "--actor", actor, "--scope", "read,approve", at=folder)
        assert "Only a human says yes" in why and actor in why
    assert told("token", "list", "--all", at=folder) == []


def test_a_runtimes_token_asks_for_nothing_on_the_command_line(folder: Path) -> None:
    gpu = new_token(folder, "runtime:gpu", "read", "serve")
    for verb in (
        ["execute", "sales", "--code", "1"],
        ["run", "sales.py"],
        ["archive", "sales"],
        ["restart", "sales"],
        ["token", "new", "--actor", "runtime:other"],
        ["open", "sales"],
    ):
        assert run(*verb, at=folder, token=gpu).returncode in (2, 3), verb
    assert run("log", "sales", at=folder, token=gpu).returncode == 0
    assert [each["actor"] for each in told("token", "list", "--all", at=folder)] == ["runtime:gpu"]


def test_the_list_tells_what_a_token_was_made_with_and_ended_with(folder: Path) -> None:
    secret = new_token(folder, "human:bob", "read", "run", "admin")

    async def made() -> tuple[str, str]:
        workspace = await connect_store(folder)
        bob = await workspace.bearer(secret)
        runtime = await bob.create_runtime_token("gpu", LogId("01sales"))
        await workspace.close()
        return bob.identity.token or "", runtime.token

    parent, child = asyncio.run(made())
    shown = {each["token"]: each for each in told("token", "list", at=folder)}
    assert (shown[parent]["parent"], shown[child]["parent"]) == (None, parent)
    assert run("token", "revoke", parent, at=folder).returncode == 0
    assert told("token", "list", at=folder) == []
    ended = {each["token"]: each for each in told("token", "list", "--all", at=folder)}
    assert (ended[child]["state"], ended[child]["ended_with"]) == ("ended", parent)
    assert f"ended with {parent}" in run("token", "list", "--all", at=folder).stdout


def test_revoking_a_person_takes_all_who_act_for_them(folder: Path) -> None:
    new_token(folder, "human:bob", "read", "run")
    agent = new_token(folder, "agent:claude", "read", on_behalf_of=ActorId("human:bob"))
    other = new_token(folder, "agent:claude", "read")
    assert run("token", "revoke", "human:bob", at=folder).returncode == 0
    assert "revoked" in refusal("log", "sales", at=folder, token=agent)
    assert run("log", "sales", at=folder, token=other).returncode == 0
    assert [each["actor"] for each in told("token", "list", at=folder)] == ["agent:claude"]


def test_whoever_may_edit_and_run_still_runs_a_file(folder: Path) -> None:
    """It asks as itself, and serves as a runtime of its own."""
    token = new_token(folder, "agent:claude", "read", "edit", "run")
    outcome = told("run", "sales.py", at=folder, token=token)
    assert outcome["status"] == "success"

    async def entries() -> list[tuple[str, str | None, str]]:
        workspace = await connect(folder)
        found = await workspace.entries(LogId(outcome["run"]))
        await workspace.close()
        return [(entry.actor.partition(":")[0], entry.on_behalf_of, type(entry.event).__name__) for entry in found]

    by = asyncio.run(entries())
    assert ("agent", by[0][1], "RunRequested") == by[0]
    served = {(kind, behalf) for kind, behalf, event in by if event in ("RunClaimed", "OutputAdded", "RunFinished")}
    assert served == {("runtime", by[0][1])}, "for the same person"
