"""A real repository for a test: git as it is installed here, with nobody's settings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from quire.formats.strip import Rules
from quire.git.install import install

QUIRE = str(Path(sys.executable).with_name("quire"))
THREE = ("import math\n", "x = 1\ny = 2\n", "print(x)\n")
GIT_RULES = Rules(keep_kernel=False)


def settings_of_nobody(home: Path) -> dict[str, str]:
    """The environment of somebody who has a name and no settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "QUIRE_", "XDG_"))}
    who = {
        f"GIT_{role}_{what}": f"{what}@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    return kept | who | {"HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C.UTF-8"}


class Repo:
    """A folder with a repository in it."""

    def __init__(self, top: Path, home: Path) -> None:
        self.top = top
        self.env = settings_of_nobody(home)
        self._time = 0

    def run(self, *command: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            list(map(str, command)),
            cwd=self.top,
            input=stdin,
            capture_output=True,
            text=True,
            env=self.env,
            timeout=240,
        )

    def git(self, *arguments: str | Path, stdin: str = "") -> str:
        """What git prints. It has to work."""
        done = self.run("git", *arguments, stdin=stdin)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def quire(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return self.run(QUIRE, *arguments)

    @contextmanager
    def here(self) -> Generator[None]:
        """This process in this folder and its environment: what it does takes no new process."""
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.top)
            for name in os.environ.keys() - self.env.keys():
                patch.delenv(name)
            for name, value in self.env.items():
                patch.setenv(name, value)
            yield

    def install(self, *, generate: bool) -> None:
        """What `quire git install` does."""
        with self.here():
            install("local", Rules(), generate=generate)

    def commit(self, message: str = "x", **files: str) -> None:
        """Write the files (named without .ipynb), add all there is, and commit."""
        for name, text in files.items():
            self.write(f"{name}.ipynb", text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "-m", message)

    def write(self, name: str, text: str) -> Path:
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        # Of a file that is as new as its index git cannot tell whether it changed, and would ask the filter each time.
        self._time += 1
        os.utime(path, (self._time, self._time))
        return path

    def recorded(self, name: str = "a.ipynb", revision: str = "") -> Any:
        """The notebook as git has it: in the index, or at a revision."""
        return json.loads(self.git("cat-file", "blob", f"{revision}:{name}"))

    def history(self, *commits: tuple[str, str, str | None]) -> None:
        """Make commits of a.ipynb by branch, text and the branch they start from, and check out main."""
        stream: list[str] = []
        for branch, text, start in commits:
            size = len(text.encode())
            stream.append(
                f"commit refs/heads/{branch}\ncommitter A <a@example.org> 1 +0000\ndata {len(branch)}\n{branch}\n"
            )
            stream.append(f"from refs/heads/{start}\n" if start else "")
            stream.append(f"M 100644 inline a.ipynb\ndata {size}\n{text}\n")
        self.git("fast-import", "--quiet", "--force", stdin="".join(stream))
        self.git("reset", "--quiet", "--hard", "main")

    def status(self) -> str:
        """What git finds changed when it does not trust the times of files."""
        self._time += 1
        for path in self.top.glob("*.ipynb"):
            os.utime(path, (self._time, self._time))
        return self.git("status", "--porcelain")

    def to_commit(self) -> str:
        """What would be committed of all there is."""
        self.git("add", "--all")
        return self.git("status", "--porcelain")


def notebook(
    *sources: str, runs: int = 0, ids: Iterable[str] | None = None, metadata: dict[str, Any] | None = None
) -> str:
    """A notebook as Jupyter saves it; with `runs`, as it is after so many."""
    names = list(ids or [f"cell-{number}" for number in range(len(sources))])
    cells = [_code(name, source, runs) for name, source in zip(names, sources, strict=True)]
    whole = {"cells": cells, "metadata": metadata or {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _code(name: str, source: str, runs: int) -> dict[str, Any]:
    output = {"name": "stdout", "output_type": "stream", "text": [f"secret {runs}\n"]}
    times = {"iopub.execute_input": f"2026-01-01T00:00:0{runs % 10}Z"}
    return {
        "cell_type": "code",
        "execution_count": runs or None,
        "id": name,
        "metadata": {"execution": times} if runs else {},
        "outputs": [output] if runs else [],
        "source": source.splitlines(keepends=True),
    }


def sources(book: Any) -> list[str]:
    """The sources of a notebook that was read as JSON."""
    return ["".join(cell["source"]) for cell in book["cells"]]


def everything(folder: Path) -> dict[str, tuple[int, bytes | None]]:
    """Every file and folder below, with its permissions and bytes."""
    return {
        str(path.relative_to(folder)): (path.stat().st_mode, path.read_bytes() if path.is_file() else None)
        for path in sorted(folder.rglob("*"))
    }


def changed_lines(shown: str) -> list[str]:
    """The lines with a sign in front, of what git shows."""
    return [line for line in shown.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---") and line]
