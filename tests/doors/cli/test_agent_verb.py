"""`quire agent`: the files of other tools, changed in one place and taken back."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from quire.doors.agents.known_agents import AGENTS
from quire.doors.cli.main import VERBS, cli
from quire.formats.skill import SKILL

from ...command import QUIRE, run
from ...terminal import OnTerminal


def agent(folder: Path, *words: str, status: int = 0, path: str = "/usr/bin:/bin") -> str:
    mine = {"HOME": str(folder / "home"), "XDG_CONFIG_HOME": "", "CODEX_HOME": "", "PATH": path}
    done = run("agent", *words, at=folder, env=mine)
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr


def as_json(folder: Path, *words: str) -> Any:
    return json.loads(agent(folder, *words, "--json").splitlines()[0])


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


# ---- Each agent, as its documentation shows it


@pytest.mark.parametrize(
    ("name", "settings", "skills", "wanted"),
    [
        ("claude-code", ".mcp.json", ".claude", {"mcpServers": {"type": "stdio"}}),
        ("cursor", ".cursor/mcp.json", ".cursor", {"mcpServers": {}}),
        ("vscode", ".vscode/mcp.json", ".github", {"servers": {"type": "stdio"}}),
        ("gemini-cli", ".gemini/settings.json", ".gemini", {"mcpServers": {}}),
        ("zed", ".zed/settings.json", ".agents", {"context_servers": {}}),
    ],
)
def test_an_agent_gets_an_entry_and_a_skill(
    tmp_path: Path, name: str, settings: str, skills: str, wanted: dict[str, dict[str, Any]]
) -> None:
    agent(tmp_path, "install", name, "--yes")
    assert files(tmp_path) == {settings, f"{skills}/skills/quire/SKILL.md"}
    ((key, more),) = wanted.items()
    where = ["--at", "${workspaceFolder}"] if name in ("cursor", "vscode") else []
    entry = {**more, "command": QUIRE, "args": ["mcp", "--as", name, *where]}
    assert json.loads((tmp_path / settings).read_text()) == {key: {"quire": entry}}
    assert (tmp_path / skills / "skills/quire/SKILL.md").read_text() == SKILL
    agent(tmp_path, "uninstall", name, "--yes")
    assert list(tmp_path.iterdir()) == [], "not even the folders"


def test_codex_gets_a_table_of_toml(tmp_path: Path) -> None:
    agent(tmp_path, "install", "codex", "--yes", "--ask", "run")
    told = tomllib.loads((tmp_path / ".codex/config.toml").read_text())
    assert told == {"mcp_servers": {"quire": {"command": QUIRE, "args": ["mcp", "--as", "codex", "--ask", "run"]}}}


@pytest.mark.parametrize(
    ("name", "text", "path"),
    [
        ("opencode.json", "", ("mcp", "quire")),
        ("opencode.jsonc", '{"mcp": {"servers": {"type": "local", "command": ["x"]}}} // old', ("mcp", "quire")),
        ("opencode.json", '{"mcp": {"servers": {}}}', ("mcp", "servers", "quire")),
    ],
)
def test_opencode_has_its_own_shape_and_a_newer_one(
    tmp_path: Path, name: str, text: str, path: tuple[str, ...]
) -> None:
    (tmp_path / name).write_text(text)
    agent(tmp_path, "install", "opencode", "--yes")
    found = json.loads((tmp_path / name).read_text().partition(" //")[0])
    for key in path:
        found = found[key]
    assert found == {"type": "local", "command": [QUIRE, "mcp", "--as", "opencode"], "enabled": True}


def test_every_agent_has_files_of_the_user(tmp_path: Path) -> None:
    listed = as_json(tmp_path, "list")
    assert {each["agent"] for each in listed if each["scope"] == "user"} == {each.name for each in AGENTS}
    assert not any(each["installed"] for each in listed)
    agent(tmp_path, "install", "windsurf", "--yes", "--at", "/data")
    (there,) = [each for each in as_json(tmp_path, "list") if each["installed"]]
    assert there["settings"] == str(tmp_path / "home/.codeium/windsurf/mcp_config.json"), "it has none for a project"
    entry = json.loads(Path(there["settings"]).read_text())["mcpServers"]["quire"]
    assert entry == {"command": QUIRE, "args": ["mcp", "--as", "windsurf", "--at", "/data"]}
    assert "--user" in agent(tmp_path, "install", "windsurf", "--project", status=2)


def test_a_project_is_where_its_workspace_is(tmp_path: Path) -> None:
    (tmp_path / ".quire").mkdir()
    (tmp_path / "deep").mkdir()
    agent(tmp_path / "deep", "install", "claude-code", "--yes")
    assert (tmp_path / ".mcp.json").exists()


def test_a_project_names_no_place_of_this_machine_where_a_path_finds_it(tmp_path: Path) -> None:
    path = f"{Path(QUIRE).parent}:/usr/bin:/bin"
    agent(tmp_path, "install", "claude-code", "--yes", path=path)
    assert json.loads((tmp_path / ".mcp.json").read_text())["mcpServers"]["quire"]["command"] == "quire"
    agent(tmp_path, "install", "claude-code", "--yes", "--user", path=path)
    assert QUIRE in (tmp_path / "home/.claude.json").read_text(), "whatever starts the agent, and with which path"


def test_the_workspace_is_named_for_who_starts_somewhere_else_and_no_password_is(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    agent(tmp_path, "install", "gemini-cli", "--yes", "--at", "there")
    assert json.loads((tmp_path / ".gemini/settings.json").read_text())["mcpServers"]["quire"]["args"][-2:] == [
        "--at",
        str(tmp_path / "there"),
    ]
    told = agent(tmp_path, "install", "gemini-cli", "--at", "postgresql://me:s3cret@db/quire", status=2)
    assert "QUIRE_URL" in told and "s3cret" not in told


def test_the_guide_says_where_each_agent_looks() -> None:
    guide = (Path(__file__).parents[3] / "docs/how-to/agents.md").read_text()
    for each in AGENTS:
        (row,) = [line for line in guide.splitlines() if line.startswith(f"| `{each.name}` |")]
        assert each.project is None or f"`{each.project.settings}`" in row
        assert each.user.skills.partition("/skills")[0].rpartition("/")[2].removeprefix("$CONFIG") in row


# ---- Files of others


def test_what_else_is_in_the_settings_stays_and_comes_back_byte_for_byte(tmp_path: Path) -> None:
    text = '{\n  // mine\n  "mcpServers": {\n    "other": {"command": "x"} // theirs\n  }\n}\n'
    (tmp_path / ".cursor").mkdir()
    settings = tmp_path / ".cursor/mcp.json"
    settings.write_text(text)
    agent(tmp_path, "install", "cursor", "--yes")
    assert "// mine" in settings.read_text() and "// theirs" in settings.read_text()
    agent(tmp_path, "uninstall", "cursor", "--yes")
    assert settings.read_text() == text


def test_again_changes_nothing_and_with_other_options_only_those(tmp_path: Path) -> None:
    agent(tmp_path, "install", "claude-code", "--yes")
    settings = tmp_path / ".mcp.json"
    told = json.loads(settings.read_text())
    told["mcpServers"]["quire"]["env"] = {"QUIRE_TOKEN": "${QUIRE_TOKEN}"}
    settings.write_text(json.dumps(told))
    assert "nothing to change" in agent(tmp_path, "install", "claude-code")
    agent(tmp_path, "install", "claude-code", "--yes", "--ask", "edit,run")
    entry = json.loads(settings.read_text())["mcpServers"]["quire"]
    assert entry["env"] == {"QUIRE_TOKEN": "${QUIRE_TOKEN}"}, "what somebody added"
    assert entry["args"] == ["mcp", "--as", "claude-code", "--ask", "edit,run"]


@pytest.mark.parametrize(
    ("name", "settings", "text"),
    [
        ("cursor", ".cursor/mcp.json", '{"a": }'),
        ("codex", ".codex/config.toml", "a = "),
        ("zed", ".zed/settings.json", "[]"),
    ],
)
def test_settings_that_cannot_be_read_are_left_alone(tmp_path: Path, name: str, settings: str, text: str) -> None:
    path = tmp_path / settings
    path.parent.mkdir()
    path.write_text(text)
    told = agent(tmp_path, "install", name, "--yes", status=2)
    assert str(path) in told and path.read_text() == text and files(tmp_path) == {settings}
    assert "cannot be read" in agent(tmp_path, "list") or name == "zed"


def test_a_skill_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    skill = tmp_path / ".claude/skills/quire/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: quire\n---\nmine\n")
    assert "somebody else's" in agent(tmp_path, "install", "claude-code", "--yes", status=2)
    agent(tmp_path, "uninstall", "claude-code", "--yes")
    assert files(tmp_path) == {".claude/skills/quire/SKILL.md"}


def test_a_skill_that_another_agent_reads_too_stays_for_it(tmp_path: Path) -> None:
    agent(tmp_path, "install", "codex", "--yes")
    agent(tmp_path, "install", "zed", "--yes")
    agent(tmp_path, "uninstall", "codex", "--yes")
    assert files(tmp_path) == {".zed/settings.json", ".agents/skills/quire/SKILL.md"}
    agent(tmp_path, "uninstall", "zed", "--yes")
    assert files(tmp_path) == set()


# ---- Asking first


def test_where_nobody_is_asked_it_is_shown_and_not_written(tmp_path: Path) -> None:
    told = agent(tmp_path, "install", "claude-code")
    assert '+    "quire": {' in told and "+# Notebooks with Quire" in told
    assert "quire agent install claude-code --project --yes" in told
    shown = as_json(tmp_path, "install", "claude-code")
    assert shown["written"] is False and [each["action"] for each in shown["changes"]] == ["make", "make"]
    assert files(tmp_path) == set()
    assert as_json(tmp_path, "install", "claude-code", "--yes")["written"] is True


@pytest.mark.parametrize(("typed", "written"), [("y\n", True), ("n\n", False)])
def test_somebody_at_a_terminal_is_asked(tmp_path: Path, typed: str, written: bool) -> None:
    environ = {"HOME": str(tmp_path / "home")}
    with OnTerminal(QUIRE, "agent", "install", "gemini-cli", at=tmp_path, env=environ) as terminal:
        terminal.until(lambda screen: "Write these 2 files?" in screen)
        terminal.type(typed)
        terminal.until(lambda screen: "started again" in screen or "Nothing was written" in screen)
    assert (tmp_path / ".gemini/settings.json").exists() is written


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("install", "cursr"), "Did you mean cursor"),
        (("install", "xyzzy"), "Known: claude-code"),
        (("install", "codex", "--ask", "approve"), "neither run nor edit"),
    ],
)
def test_what_makes_no_sense_is_said(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    assert told in agent(tmp_path, *words, status=2)


# ---- What the skill says


def test_the_skill_is_one_by_the_open_format_and_short() -> None:
    _, front, body = SKILL.split("---\n", 2)
    told = yaml.safe_load(front)
    assert told["name"] == "quire" and 1 <= len(told["description"]) <= 1024
    assert len(body) < 6000, "an agent reads it whole"


def test_every_verb_and_option_that_the_skill_names_is_there() -> None:
    shell = SKILL.partition("## Without the tools")[2]
    for words in re.findall(r"`quire ([^`]+)`", shell):
        name, *rest = words.split()
        assert name in VERBS
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        options = {option for each in command.params for option in each.opts}
        assert {word for word in rest if word.startswith("-")} <= options, words
