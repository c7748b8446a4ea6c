"""A machine that runs cells and inserts some holds two tokens: the example of docs/how-to/runtimes.md, as it stands there."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

from .faulty_notebook import DEADLINE_SECONDS
from .remote_runtime import Far, far, folder, log
from .server import Folder

__all__ = ["far", "folder", "log"]  # fixtures

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "runtimes.md"


def blocks(language: str) -> list[str]:
    """The lines to copy of one section."""
    section = PAGE.read_text().partition("## A runtime that also changes the notebook\n")[2].partition("\n## ")[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def test_the_example_inserts_a_cell_and_executes_it_by_its_id(folder: Folder, far: list[Far], tmp_path: Path) -> None:
    (folder.path / "sales.py").write_text('# %% name="first"\nx = 1\n')
    log: str = folder.quire("import", "sales.py", "--json")["log"]
    server = folder.start()
    making, serving = blocks("sh")
    secrets: dict[str, str] = {}
    for line in making.splitlines():
        command, _, file = line.partition(" > ")
        secrets[file] = folder.quire(*shlex.split(command)[1:]).stdout.strip()
    found = re.fullmatch(r"QUIRE_TOKEN=\$\(cat runtime\.token\) quire runtime (.*)\n", serving)
    assert found is not None, serving
    far.append(Far(tmp_path / "far", server.url, secrets["runtime.token"], *shlex.split(found[1])))
    (program,) = blocks("python")
    environ = folder.environ | {
        "QUIRE_URL": server.url,
        "QUIRE_TOKEN": secrets["agent.token"],
        "QUIRE_ALLOW_HTTP": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environ,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=DEADLINE_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    cell, state, runtime, printed = done.stdout.split()
    assert (state, runtime, printed) == ("ok", "runtime:gpu", "42")
    with server.client(folder.token("read")) as ada:
        events = {each["event"]["type"]: each for each in ada.get(f"/api/logs/{log}/events").json()["entries"]}
        assert events["cell_added"]["event"]["cell"] == cell
        assert events["cell_added"]["actor"] == events["execution_requested"]["actor"] == "agent:gpu"
        assert events["execution_claimed"]["actor"] == "runtime:gpu"
    assert server.end() == 0
