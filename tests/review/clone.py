"""A clone of a repository with notebooks, as somebody works in it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from .. import command
from ..git.repository import Repo
from .forge_server import TOKEN, StandIn

FLEET = """\
# %% [markdown]
# # Fleet health

# %% name="settings" tags=["parameters"]
threshold = 0.95

# %% name="score"
from quire.kernel import result

scores = [0.88, 0.91, 0.93, 0.96, 0.99]
healthy = sum(score >= threshold for score in scores)
print(f"{healthy} of {len(scores)} are healthy")
result("healthy", healthy)
result("share", healthy / len(scores))
"""
PATH = "notebooks/fleet.py"
LOWER = ("threshold = 0.95", "threshold = 0.90")


class Clone(Repo):
    """A clone."""

    def connect(self, forge: StandIn) -> None:
        """Have the remote's address be that of the forge, and git find it in the bare repository."""
        self.git("config", "remote.origin.url", forge.remote)
        self.git("config", f"url.{forge.repository}.insteadOf", forge.remote)
        self.git("config", "quire.forge", forge.kind)
        self.git("config", "quire.forgeApi", forge.url + forge.prefix)

    def call(self, *arguments: str | Path, token: str = TOKEN, **env: str) -> subprocess.CompletedProcess[str]:
        """Call the command in this process, in the clone."""
        return command.run(*arguments, at=self.top, env={**self.env, "QUIRE_FORGE_TOKEN": token, **env})

    def enter(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Have this process be in the clone, with a token."""
        monkeypatch.chdir(self.top)
        for name, value in {**self.env, "QUIRE_FORGE_TOKEN": TOKEN}.items():
            if not name.startswith("PYTEST_"):
                monkeypatch.setenv(name, value)

    def propose(self, *arguments: str, status: int = 0, **env: str) -> dict[str, Any]:
        """Propose by a pull request, and return what came of it."""
        done = self.call("propose", *arguments, "--pull-request", "--json", **env)
        assert done.returncode == status, done.stdout + done.stderr
        return json.loads(done.stdout)

    def refused(self, *arguments: str, status: int, **env: str) -> str:
        """What a call says that does not work."""
        done = self.call("propose", *arguments, "--pull-request", **env)
        assert done.returncode == status, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stderr

    def edit(self, old: str = LOWER[0], new: str = LOWER[1], path: str = PATH) -> None:
        """Change a notebook in the work tree."""
        text = (self.top / path).read_text()
        assert old in text
        self.write(path, text.replace(old, new))

    def at(self, revision: str, path: str = PATH) -> str:
        """A file at a revision."""
        return self.git("cat-file", "blob", f"{revision}:{path}")


def prepared(place: Path) -> Path:
    """Make a bare remote and a clone of it with one notebook."""
    (place / "home").mkdir()
    clone = Clone(place / "clone", place / "home")
    clone.top.mkdir()
    clone.git("init", "--quiet", "--initial-branch", "main")
    clone.write(PATH, FLEET)
    clone.write(".gitignore", ".quire/\nruns/\n")
    with clone.here():
        done = command.run("convert", PATH, "notebooks/fleet.ipynb", at=clone.top, env=clone.env)
    assert done.returncode == 0, done.stderr
    clone.git("add", "--all")
    clone.git("commit", "--quiet", "-m", "feat(fleet): add the notebook")
    clone.git("clone", "--quiet", "--bare", str(clone.top), str(place / "remote.git"))
    clone.git("remote", "add", "origin", str(place / "remote.git"))
    clone.git("fetch", "--quiet", "origin")
    clone.git("branch", "--quiet", "--set-upstream-to", "origin/main")
    return place
