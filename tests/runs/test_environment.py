"""Where a notebook runs and what it gets there: real environments, real kernels, `quire run` as a person types it."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import termios
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from quire.runs.provision import command_for

from ..command import QUIRE
from ..kernels.test_environments import environment

ROOT = Path(__file__).parents[2]
UV = str(Path(sys.executable).with_name("uv"))
PATIENCE = 240
WHERE = "# %%\nimport fruit, sys\nprint(fruit.version, sys.prefix)\n"
NEEDY = """\
# /// script
# dependencies = ["fruit>=2"]
# [tool.quire]
# variables = ["REPORT_URL"]
# secrets = ["API_KEY"]
# ///

# %%
import os, pathlib
from importlib.metadata import version
pathlib.Path("ran").write_text(" ".join((os.environ["REPORT_URL"], os.environ["API_KEY"], version("fruit"))))
"""


def surroundings(**more: str) -> dict[str, str]:
    """The variables of these tests without what says where to run, and with some of our own."""
    says = ("QUIRE_", "PYTEST_", "VIRTUAL_ENV", "CONDA_", "UV_")
    return {name: value for name, value in os.environ.items() if not name.startswith(says)} | more


def quire(*args: str | Path, at: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [QUIRE, *map(str, args)],
        cwd=at,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=surroundings(**more),
        timeout=PATIENCE,
    )


def outcome(*args: str | Path, at: Path, **more: str) -> Any:
    done = quire("run", *args, "--json", at=at, **more)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def printed(path: Path) -> str:
    """What the last cell of a file printed."""
    return "".join(json.loads(path.read_text())["cells"][-1]["outputs"][0]["text"])


# ---- Which interpreter


def test_two_notebooks_with_environments_of_their_own_each_get_their_version_of_a_package(tmp_path: Path) -> None:
    for version in ("1.0", "2.0"):
        near = environment(tmp_path / version / ".venv", version=version)
        notebook = tmp_path / version / "reports" / "weekly" / "x.py"
        notebook.parent.mkdir(parents=True)
        notebook.write_text(WHERE)
        told = outcome(notebook, f"{version}.ipynb", at=tmp_path)
        assert printed(tmp_path / f"{version}.ipynb") == f"{version} {near}\n"
        assert told["interpreter"] == str(near / "bin" / "python")
        log = json.loads(quire("log", told["run"], "--json", at=tmp_path).stdout)
        (environments,) = [each["event"]["environment"] for each in log if each["event"]["type"] == "run_started"]
        assert environments["interpreter"] == told["interpreter"]


def test_the_environment_that_is_active_comes_before_the_nearest(tmp_path: Path) -> None:
    """Which variables say so: tests/kernels/test_environments.py."""
    active = environment(tmp_path / "active", version="3.0")
    environment(tmp_path / ".venv", version="1.0")
    (tmp_path / "x.py").write_text(WHERE)
    told = outcome("x.py", "x.ipynb", at=tmp_path, VIRTUAL_ENV=str(active))
    assert printed(tmp_path / "x.ipynb") == f"3.0 {active}\n"
    assert told["interpreter"] == str(active / "bin" / "python")


def test_an_environment_without_ipykernel_is_refused_with_the_command_that_mends_it(tmp_path: Path) -> None:
    bare = environment(tmp_path / ".venv", ipykernel=False)
    (tmp_path / "x.py").write_text(WHERE)
    done = quire("run", "x.py", at=tmp_path)
    assert done.returncode == 2
    assert f"Add it: uv pip install ipykernel --python {bare}/bin/python" in done.stderr


@pytest.mark.slow
def test_uv_run_just_works(tmp_path: Path) -> None:
    """A project of uv with quire in its environment; nothing is registered, nothing is activated."""
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "sales"\nversion = "0"\nrequires-python = ">=3.11"\n')
    near = environment(tmp_path / ".venv")
    offline = surroundings(UV_OFFLINE="1")
    install = [UV, "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--python", f"{near}/bin/python"]
    subprocess.run([*install, "--editable", str(ROOT)], env=offline, check=True, timeout=PATIENCE)
    (tmp_path / "x.py").write_text(WHERE)
    done = subprocess.run(
        [UV, "run", "quire", "run", "x.py", "x.ipynb", "--json"],
        cwd=tmp_path,
        env=offline,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["interpreter"] == str(near / "bin" / "python")
    assert printed(tmp_path / "x.ipynb") == f"1.0 {near}\n"


# ---- Variables


def test_the_nearest_env_file_adds_variables_and_the_callers_win(tmp_path: Path) -> None:
    """Also: with no environment around, Quire's own interpreter runs it."""
    (tmp_path / ".env").write_text("FAR=1\n")
    folder = tmp_path / "a"
    (folder / "b").mkdir(parents=True)
    (folder / ".env").write_text(
        "# for the reports\nPLAIN=two words # not this\nexport SINGLE='$HOME # all'\n"
        'DOUBLE="one\\ntwo"\nSEVERAL="one\ntwo"\nDOLLAR=$HOME\nCALLERS=file\nwhat is this\n'
    )
    names = ["PLAIN", "SINGLE", "DOUBLE", "SEVERAL", "DOLLAR", "CALLERS", "FAR"]
    (folder / "b" / "x.py").write_text(f"# %%\nimport os\nprint([os.environ.get(name) for name in {names}])\n")
    done = quire("run", "a/b/x.py", "x.ipynb", "--json", at=tmp_path, CALLERS="caller")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["interpreter"] == sys.executable
    assert printed(tmp_path / "x.ipynb") == (
        "['two words', '$HOME # all', 'one\\ntwo', 'one\\ntwo', '$HOME', 'caller', None]\n"
    )
    assert f"{folder / '.env'}, line 9: not understood" in done.stderr


def test_what_is_declared_and_missing_is_refused_by_name_before_the_first_cell(tmp_path: Path) -> None:
    near = environment(tmp_path / ".venv", version="1.0")
    (tmp_path / "x.py").write_text(NEEDY)
    done = quire("run", "x.py", "x.ipynb", "--json", at=tmp_path, API_KEY="")
    assert done.returncode == 2
    error = json.loads(done.stdout)["error"]
    assert (error["kind"], error["variables"], error["packages"]) == (
        "BadInput",
        ["REPORT_URL", "API_KEY"],
        ["fruit>=2"],
    )
    assert error["command"].endswith(f"pip install --python {near}/bin/python 'fruit>=2'")
    assert all(name in done.stderr for name in ("REPORT_URL", "API_KEY", "fruit>=2", error["command"]))
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "x.ipynb").exists()
    assert json.loads(quire("sql", "select count(*) as runs from runs", "--json", at=tmp_path).stdout) == [{"runs": 0}]


@pytest.mark.slow
def test_the_notebook_of_the_page_about_environments_works_as_it_is_shown(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "how-to" / "environments.md").read_text()
    (tmp_path / "sales.py").write_text(page.partition("```python\n")[2].partition("```")[0])
    (tmp_path / ".env").write_text(
        page.partition("the caller's counts.\n\n```sh\n")[2].partition("```")[0] + "REGION=south\n"
    )
    outcome("sales.py", "sales.ipynb", at=tmp_path, API_KEY="tok-123456")
    *_, loads, query, last = json.loads((tmp_path / "sales.ipynb").read_text())["cells"]
    assert "".join(loads["outputs"][0]["text"]) == "south [secret API_KEY]\n"
    assert "".join(query["outputs"][0]["data"]["text/plain"]).split() == ["city", "orders", "0", "Ulm", "2"]
    assert "".join(last["outputs"][0]["text"]) == "2\n"


def test_where_there_is_no_input_at_all_nobody_is_asked(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text(NEEDY)
    (tmp_path / "y.py").write_text("# %%\nprint('fine')\n")
    for name, status in (("x.py", 2), ("y.py", 0)):
        closed = ["sh", "-c", '"$@" <&-', "sh", QUIRE, "run", name]
        done = subprocess.run(
            closed, cwd=tmp_path, env=surroundings(), capture_output=True, text=True, timeout=PATIENCE
        )
        assert (done.returncode, "Traceback" in done.stderr) == (status, False), done.stderr


def test_the_command_that_is_offered_is_one_that_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    python = str(tmp_path / "bin" / "python")
    assert command_for(("a",), python, {"PATH": "/"}) == [UV, "pip", "install", "--python", python, "a"]
    assert command_for(("a",), python, {"PATH": str(Path(UV).parent)})[0] == "uv"
    monkeypatch.setattr(sys, "executable", str(tmp_path / "elsewhere" / "python"))
    assert command_for(("a",), python, {"PATH": "/"})[0] == "uv", "nothing is there: uv has to be got first"
    (tmp_path / "bin" / "pip").touch()
    assert command_for(("a",), python, {"PATH": "/"}) == [python, "-m", "pip", "install", "a"]


# ---- Asking, on a terminal


class Terminal:
    """`quire` on a terminal of its own."""

    def __init__(self, *args: str, at: Path, **more: str) -> None:
        self._ours, theirs = pty.openpty()
        self.screen = ""
        self.process = subprocess.Popen(
            [QUIRE, *args],
            cwd=at,
            env=surroundings(TERM="dumb", **more),
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=theirs,
            # A session of its own, whose Ctrl-C this is.
            preexec_fn=lambda: _take_terminal(theirs),
        )
        os.close(theirs)

    def until(self, text: str) -> None:
        """Read on until the screen says something."""
        deadline = time.monotonic() + PATIENCE
        while text not in self.screen and self._read(deadline):
            pass
        assert text in self.screen, self.screen

    def types(self, text: str, *, after: str) -> None:
        self.until(after)
        os.write(self._ours, text.encode())

    def ended(self) -> int:
        """Read the rest, and return the exit status."""
        deadline = time.monotonic() + PATIENCE
        while self._read(deadline):
            pass
        with self.process:
            assert self.process.stdout is not None
            self.out = self.process.stdout.read().decode()
        os.close(self._ours)
        return self.process.wait(PATIENCE)

    def _read(self, deadline: float) -> bool:
        ready, _, _ = select.select([self._ours], [], [], max(0, deadline - time.monotonic()))
        assert ready, f"nothing more comes after: {self.screen}"
        try:
            data = os.read(self._ours, 4096)
        except OSError:  # the other side is closed
            return False
        self.screen += data.decode(errors="replace").replace("\r\n", "\n")
        return bool(data)


def _take_terminal(descriptor: int) -> None:
    import fcntl

    os.setsid()
    fcntl.ioctl(descriptor, termios.TIOCSCTTY, 0)


def wheel(folder: Path, version: str) -> None:
    """A real wheel of a package `fruit`."""
    info = f"fruit-{version}.dist-info"
    with zipfile.ZipFile(folder / f"fruit-{version}-py3-none-any.whl", "w") as file:
        file.writestr("fruit.py", f"version = {version!r}\n")
        file.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: fruit\nVersion: {version}\n")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: us\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", "")


def test_what_is_missing_is_asked_for_on_a_terminal(tmp_path: Path) -> None:
    """A secret is typed unseen; a package is installed by the command that was shown."""
    near = environment(tmp_path / ".venv", version="1.0")
    wheel(tmp_path, "2.5")
    (tmp_path / "x.py").write_text(NEEDY)
    index = {"UV_FIND_LINKS": str(tmp_path), "UV_NO_INDEX": "1", "UV_OFFLINE": "1"}
    terminal = Terminal("run", "x.py", "x.ipynb", "--json", at=tmp_path, **index)
    terminal.types("https://example.org\n", after="REPORT_URL")
    terminal.types("tok-123456\n", after="API_KEY (secret")
    terminal.types("y\n", after="Run that now?")
    assert terminal.ended() == 0, terminal.screen
    assert f"pip install --python {near}/bin/python 'fruit>=2'" in terminal.screen
    assert json.loads(terminal.out)["status"] == "success"
    assert (tmp_path / "ran").read_text() == "https://example.org tok-123456 2.5"
    assert "https://example.org" in terminal.screen
    assert "tok-123456" not in terminal.screen
    kept = [path for path in tmp_path.rglob("*") if path.is_file() and path.parent != tmp_path]
    assert not [path for path in kept if b"tok-123456" in path.read_bytes()]


def test_an_environment_without_ipykernel_is_offered_it(tmp_path: Path) -> None:
    bare = environment(tmp_path / ".venv", ipykernel=False)
    (tmp_path / "x.py").write_text(WHERE)
    # There is nowhere to get it from: agreed to and failed, or declined, the refusal is the same.
    nowhere = {"UV_NO_INDEX": "1", "UV_OFFLINE": "1", "UV_NO_CONFIG": "1", "UV_CACHE_DIR": str(tmp_path / "cache")}
    for answer in ("y\n", "n\n"):
        terminal = Terminal("run", "x.py", at=tmp_path, **nowhere)
        terminal.types(answer, after="Run that now?")
        assert terminal.ended() == 2
        assert f"pip install --python {bare}/bin/python ipykernel\n" in terminal.screen
        assert "has no ipykernel" in terminal.screen.partition("Run that now?")[2]


def test_no_answer_is_a_refusal_and_ctrl_c_ends_the_question(tmp_path: Path) -> None:
    environment(tmp_path / ".venv", version="1.0")
    (tmp_path / "x.py").write_text(NEEDY)
    terminal = Terminal("run", "x.py", at=tmp_path, REPORT_URL="x")
    terminal.types("\n", after="API_KEY (secret")
    terminal.types("n\n", after="Run that now?")
    assert terminal.ended() == 2
    assert "needs API_KEY, which is not set" in terminal.screen
    assert "needs fruit>=2" in terminal.screen
    terminal = Terminal("run", "x.py", at=tmp_path, REPORT_URL="x")
    terminal.types("\x03", after="API_KEY (secret")
    assert terminal.ended() == 130
    assert "Traceback" not in terminal.screen
    assert not (tmp_path / "ran").exists()
