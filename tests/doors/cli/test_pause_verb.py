"""`quire token pause` and `quire token resume`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ...command import ME, as_json, run


@pytest.fixture
def codex(tmp_path: Path) -> dict[str, str]:
    """The environment of an agent with a token, in a folder with a workspace."""
    (tmp_path / ".quire").mkdir()
    words = ("token", "new", "--actor", "agent:codex", "--scope", "read,edit,run")
    made: Any = as_json(*words, at=tmp_path)
    return {"QUIRE_TOKEN": made["secret"], "TOKEN_ID": made["token"]}


def test_a_paused_agent_is_refused_by_every_verb_until_it_is_resumed(tmp_path: Path, codex: dict[str, str]) -> None:
    done = run("token", "pause", "codex", "--why", "tests first", at=tmp_path)
    assert (done.returncode, "agent:codex is paused" in done.stderr) == (0, True)
    refused = run("sql", "SELECT 1", at=tmp_path, env=codex)
    assert refused.returncode == 3
    assert f"agent:codex is paused by {ME} since " in refused.stderr
    assert "tests first" in refused.stderr
    (listed,) = as_json("token", "list", at=tmp_path)
    assert (listed["state"], listed["paused"]["why"]) == ("valid", "tests first")
    assert f"paused by {ME}" in run("token", "list", at=tmp_path).stdout
    assert run("token", "resume", "agent:codex", at=tmp_path).returncode == 0
    assert run("sql", "SELECT 1", at=tmp_path, env=codex).returncode == 0


def test_a_token_is_paused_by_its_id_and_an_agent_does_not_resume_itself(tmp_path: Path, codex: dict[str, str]) -> None:
    answer: Any = as_json("token", "pause", codex["TOKEN_ID"], "--interrupt", at=tmp_path)
    assert (answer["paused"], answer["stopped"]) == (codex["TOKEN_ID"], [])
    refused = run("token", "resume", codex["TOKEN_ID"], at=tmp_path, env=codex)
    assert (refused.returncode, "is paused" in refused.stderr) == (3, True)


def test_an_agent_without_a_token_is_named_in_full(tmp_path: Path, codex: dict[str, str]) -> None:
    assert run("token", "pause", "agent:stdio", at=tmp_path).returncode == 0
    unknown = run("token", "pause", "stdioo", at=tmp_path)
    assert (unknown.returncode, "There is no actor" in unknown.stderr) == (2, True)
    assert run("token", "resume", "agent:other", at=tmp_path).returncode == 2
