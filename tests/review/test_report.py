"""Executed notebooks are published where people read them, with an index."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ..command import QUIRE
from ..object_storage import ACCESS_KEY, SECRET_KEY, S3Server, s3_server
from .clone import Clone
from .forge_server import TOKEN, GiteaStandIn


def executed(clone: Clone, name: str, value: int, run: str, at: str = "2026-11-19") -> str:
    """Write a notebook as a run leaves it."""
    scrap = {"name": "total", "data": value, "encoder": "json", "version": 1}
    output: dict[str, Any] = {
        "output_type": "display_data",
        "data": {"application/scrapbook.scrap.json+json": scrap},
        "metadata": {"scrapbook": {"name": "total", "data": True, "display": False}},
    }
    printed = {"output_type": "stream", "name": "stdout", "text": f"read {clone.top}/data.csv\n"}
    cell: dict[str, Any] = {
        "cell_type": "code",
        "execution_count": 1,
        "id": "total",
        "metadata": {},
        "outputs": [printed, output],
        "source": "x",
    }
    times: dict[str, Any] = {"parameters": {"month": "2026-10"}, "end_time": f"{at}T08:00:00+00:00", "exception": None}
    book: dict[str, Any] = {
        "cells": [cell],
        "metadata": {"papermill": times, "quire": {"run": run}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    clone.write(f"runs/{name}.ipynb", json.dumps(book))
    return f"runs/{name}.ipynb"


def reported(clone: Clone, *arguments: str, **env: str) -> dict[str, Any]:
    done = clone.call("report", *arguments, "--json", **env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_reports_go_to_a_branch_that_is_never_checked_out(clone: Clone, gitea: GiteaStandIn) -> None:
    clone.edit()
    before = clone.git("status", "--porcelain")
    first = reported(clone, executed(clone, "sales", 41, "01RUNA"))
    second = reported(clone, executed(clone, "sales", 42, "01RUNB"))
    assert first["paths"] == ["2026-11-19/sales-01runa.ipynb"]
    assert second["pushed"] and gitea.sha("reports") == second["commit"]
    assert clone.git("status", "--porcelain") == before
    index = gitea.git("show", "reports:README.md")
    assert "`total = 41`" in index and "`total = 42`" in index and "`month = 2026-10`" in index
    book = gitea.git("show", f"reports:{first['paths'][0]}")
    assert "read data.csv" in book and str(clone.top) not in book
    assert "<html" in gitea.git("show", "reports:2026-11-19/sales-01runa.html")
    # It has no history in common with the code.
    assert clone.git("rev-list", "--max-parents=0", "reports") != clone.git("rev-list", "--max-parents=0", "main")


def test_what_a_notebook_shows_of_secrets_is_not_published(clone: Clone, gitea: GiteaStandIn) -> None:
    made = clone.top / executed(clone, "sales", 41, "01RUNA")
    secret, key = "s3cr3t-value-0123456789", f"ghp_{'a' * 36}"
    shown = f"{secret} {key} {TOKEN} https://ada:hunter22@example.org"
    made.write_text(made.read_text().replace("read ", f"read {shown} "))
    done = clone.call("report", str(made), DB_PASSWORD=secret)
    assert done.returncode == 0, done.stderr
    for path in gitea.git("ls-tree", "-r", "--name-only", "reports").split():
        text = gitea.git("show", f"reports:{path}") + done.stderr
        assert not any(each in text for each in (secret, key, TOKEN, "hunter22", str(clone.top)))


def test_somebody_who_publishes_at_the_same_time_loses_nothing(clone: Clone, gitea: GiteaStandIn) -> None:
    reported(clone, executed(clone, "a", 1, "01RUNA"))
    top = clone.top.with_name("other")
    clone.git("clone", "--quiet", str(gitea.repository), str(top))
    other = Clone(top, Path(clone.env["HOME"]))
    other.connect(gitea)
    # The push of the clone comes second: a hook lets the other go first.
    made = executed(other, "b", 2, "01RUNB")
    marker = clone.top.with_name("once")
    hook = clone.top / ".git" / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    command = f"cd {top} && {QUIRE} report {made}"
    hook.write_text(f"#!/bin/sh\ntest -e {marker} || {{ touch {marker}; unset GIT_DIR GIT_WORK_TREE; {command}; }}\n")
    hook.chmod(0o755)
    reported(clone, executed(clone, "c", 3, "01RUNC"))
    index = gitea.git("show", "reports:README.md")
    assert all(f"`total = {number}`" in index for number in (1, 2, 3))


def test_of_each_notebook_so_many_stay_as_are_asked_for(clone: Clone, gitea: GiteaStandIn) -> None:
    for number in range(3):
        reported(clone, executed(clone, "sales", number, f"01RUN{number}", f"2026-11-1{number}"))
    reported(clone, executed(clone, "costs", 9, "01RUN9"), "--keep-last", "2")
    names = gitea.git("ls-tree", "-r", "--name-only", "reports").split()
    assert [name for name in names if name.endswith(".ipynb")] == [
        "2026-11-11/sales-01run1.ipynb",
        "2026-11-12/sales-01run2.ipynb",
        "2026-11-19/costs-01run9.ipynb",
    ]


def test_reports_can_be_committed_where_one_is(clone: Clone, gitea: GiteaStandIn) -> None:
    clone.write("quire.toml", '[reports]\ncommit = "here"\n')
    made = reported(clone, executed(clone, "sales", 41, "01RUNA"))
    assert made["paths"] == ["runs/2026-11-19/sales-01runa.ipynb"]
    assert clone.git("rev-parse", "HEAD").strip() == made["commit"]
    assert "runs/README.md" in clone.git("ls-tree", "-r", "--name-only", "HEAD")
    assert (clone.top / made["paths"][0]).is_file()
    assert gitea.sha("reports") == ""


def test_a_list_that_names_other_files_is_refused(clone: Clone, gitea: GiteaStandIn) -> None:
    entry = {"id": "x", "name": "x", "status": "success", "at": "2026-11-19T00:00:00", "path": "../notebooks/fleet.py"}
    clone.write("runs/reports.json", json.dumps([{**entry, "page": "../notebooks/fleet.py"}]))
    done = clone.call("report", executed(clone, "sales", 1, "01RUNA"), "--commit", "here", "--keep-last", "1")
    assert done.returncode == 2 and "names a file that is no report" in done.stderr
    assert (clone.top / "notebooks/fleet.py").is_file()


def test_what_was_not_executed_is_no_report(clone: Clone, gitea: GiteaStandIn) -> None:
    done = clone.call("report", "notebooks/fleet.ipynb")
    assert done.returncode == 2 and "was not executed" in done.stderr
    done = clone.call("report", executed(clone, "sales", 1, "01RUNA"), "--commit", "main")
    assert done.returncode == 2 and "is checked out here" in done.stderr


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    with s3_server() as made:
        yield made


def test_reports_go_to_object_storage_with_a_page_as_index(clone: Clone, s3: S3Server) -> None:
    bucket = s3.bucket()
    env = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{s3.port}",
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        "AWS_REGION": "us-east-1",
        "AWS_ALLOW_HTTP": "true",
    }
    for number in (1, 2):
        reported(clone, executed(clone, "sales", number, f"01RUN{number}"), "--to", f"s3://{bucket}/reports", **env)
    index = s3.ask("GET", f"/{bucket}/reports/index.html")
    assert "total = 1" in index and "total = 2" in index
    assert '"nbformat"' in s3.ask("GET", f"/{bucket}/reports/2026-11-19/sales-01run2.ipynb")
