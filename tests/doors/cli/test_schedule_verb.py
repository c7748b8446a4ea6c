"""`quire schedule`: what is refused when it is added, and what is shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ...command import ME, as_json, run

NOTEBOOK = '# %% tags=["parameters"]\nrun_id = ""\n# %%\nprint(run_id)\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "fleet.py").write_text(NOTEBOOK)
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / "elsewhere").symlink_to("/tmp")
    return tmp_path


def test_bad_input_is_refused_when_it_is_added_with_the_reason(folder: Path) -> None:
    six = ("0 6 * * *", "fleet.py")
    refused: list[tuple[tuple[str, ...], str]] = [
        (("0 0 30 2 *", "fleet.py"), "no month has such a day"),
        (("0 0 1 1", "fleet.py"), "five fields"),
        (("every 0s", "fleet.py"), "1 second to 366 days"),
        ((*six, "--timezone", "Europe/Zurik"), "Did you mean Europe/Zurich"),
        ((*six, "-p", "run_id", "{{env.HOME}}"), "no environment"),
        ((*six, "-p", "run_id", "{% for x in y %}{% endfor %}"), "statement"),
        (("0 6 * * *", "gone.py"), "There is no file"),
        (("0 6 * * *", "../outside.py"), "not in the workspace's folder"),
        (("0 6 * * *", "notes.txt"), "the ending says the format"),
        ((*six, "--output", "../out.ipynb"), "leads out of"),
        ((*six, "--output", "/tmp/out.ipynb"), "leads out of"),
        ((*six, "--output", "elsewhere/out.ipynb"), "by a link"),
        ((*six, "--output", ".git/out.ipynb"), "hidden"),
        ((*six, "--output", "runs/{{previous.results.x}}.ipynb"), "cannot be part of a path"),
        ((*six, "--webhook", "ftp://x"), "is no address"),
        ((*six, "--commit", "runs"), "name one"),
        ((*six, "--retry-wait", "5m"), "--retries"),
        ((*six, "--name", "a b"), "cannot be the name"),
        ((*six, "--timeout", "soon"), "not a duration"),
    ]
    for arguments, why in refused:
        done = run("schedule", "add", *arguments, at=folder)
        assert done.returncode == 2 and why in done.stderr, (arguments, done.stderr)
    assert as_json("schedule", "list", at=folder) == []


def test_a_schedule_is_added_looked_at_paused_and_removed(folder: Path) -> None:
    arguments = (
        "0 6 * * *",
        "fleet.py",
        "-p",
        "run_id",
        "{{date}}",
        "--output",
        "runs/{{date}}.ipynb",
        "--retries",
        "2",
    )
    made = as_json("schedule", "add", *arguments, "--timezone", "Europe/Zurich", at=folder)
    assert (made["name"], made["state"], made["by"]) == ("fleet", "active", ME)
    assert len(made["next"]) == 5 and made["plan"]["retries"] == {"times": 2}
    assert "exists already" in run("schedule", "add", *arguments, at=folder).stderr
    assert as_json("schedule", "pause", "fleet", "--why", "a holiday", at=folder)["state"] == "paused"
    assert run("schedule", "pause", "fleet", at=folder).returncode == 3
    (shown,) = as_json("schedule", "list", at=folder)
    assert (shown["state"], shown["next"], shown["last"]) == ("paused", [], [])
    assert "0 6 * * *" in run("schedule", "list", at=folder).stdout
    assert as_json("schedule", "resume", "fleet", at=folder)["state"] == "resumed"
    assert as_json("scheduler", "--once", at=folder)["next"] == made["next"][0].replace(".000000Z", "+00:00")
    assert as_json("schedule", "history", "fleet", at=folder) == []
    assert as_json("schedule", "remove", "fleet", at=folder)["state"] == "removed"
    missing = run("schedule", "history", "flet", at=folder)
    assert missing.returncode == 2
    (row,) = as_json("sql", "SELECT schedule, state, timezone FROM schedules", at=folder)
    assert row == {"schedule": "fleet", "state": "removed", "timezone": "Europe/Zurich"}
    assert [each["state"] for each in as_json("schedule", "list", "--all", at=folder)] == ["removed"]


def test_a_file_with_a_mistake_changes_nothing(folder: Path) -> None:
    mistakes = {
        "a: {schedule: '0 6 * * *', path: fleet.py}\nb: {schedule: never, path: fleet.py}\n": "Schedule 'b'",
        "a: {schedule: '0 6 * * *', path: fleet.py, type: command}\n": "runs a `notebook`",
        "a: {schedule: '0 6 * * *', path: fleet.py, outputpath: x.ipynb}\n": "Did you mean 'output_path'",
        "a: {schedule: in 2 hours, path: fleet.py}\n": "depends on when it is read",
        "a: &x {schedule: '0 6 * * *', path: fleet.py}\nb: *x\n": "aliases",
        "- a\n": "has no names",
        "a: [": "is not YAML",
    }
    for text, why in mistakes.items():
        (folder / "schedules.yaml").write_text(text)
        done = run("schedule", "sync", at=folder)
        assert done.returncode == 2 and why in done.stderr, (text, done.stderr)
    assert as_json("schedule", "list", at=folder) == []


def test_a_schedule_runs_at_once_when_it_is_asked_to(folder: Path) -> None:
    run("schedule", "add", "0 6 * * *", "fleet.py", "-p", "run_id", "no {{run_number}}", at=folder)
    done = run("schedule", "now", "fleet", "--json", at=folder)
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout)
    (history,) = as_json("schedule", "history", "fleet", at=folder)
    assert (history["run"], history["status"], history["asked_by"]) == (outcome["run"], "success", ME)
    record = as_json("runs", "show", outcome["run"], at=folder)
    assert record["parameters"] == {"run_id": "no 1"}
    (folder / "fleet.py").unlink()
    gone = run("schedule", "now", "fleet", at=folder)
    assert gone.returncode == 3 and "is not in" in gone.stderr
