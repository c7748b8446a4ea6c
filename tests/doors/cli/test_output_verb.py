"""`quire output`: all that a cell showed, also what no notebook could hold."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ...command import QUIRE, run
from ...terminal import OnTerminal

PICTURE = """\
import base64, os
from IPython.display import display
display({"image/png": base64.b64encode(b"\\x89PNG" + bytes(3000)).decode(), "text/plain": "<a picture>"}, raw=True)
display({"text/plain": "long " * 20_000, "text/html": "<b>x</b>"}, raw=True)
"""
CELLS = (
    "# %% [markdown]\n# # Title",
    "# %% name=\"large\"\nfor n in range(30_000): print('line', n, '\\u65e5\\u672c')",
    "# %%\nimport sys\nprint('out\\x1b[31m', end='', flush=True)\nprint('err', file=sys.stderr, flush=True)\nprint(' more', end='')",
    f'# %% name="pictures"\n{PICTURE}',
    "# %% name=\"fails\"\nprint('before')\n1 / 0",
    "# %%\n'never'",
)
LINES = "".join(f"line {n} 日本\n" for n in range(30_000))


class Shown:
    """A run with a bit of everything, made once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "book.py").write_text("\n\n".join(CELLS) + "\n")
        done = run("run", "book.py", "--json", at=folder)
        assert done.returncode == 1, done.stderr
        self.run: str = json.loads(done.stdout)["run"]

    def text(self, *args: str) -> str:
        done = run("output", self.run, *args, at=self.folder)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def json(self, *args: str) -> Any:
        return json.loads(self.text(*args, "--json"))


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    return Shown(tmp_path_factory.mktemp("output"))


def test_a_text_of_any_length_is_printed_whole_by_number_name_and_id(shown: Shown) -> None:
    assert shown.text("2") == LINES
    told = shown.json("large")
    assert told["outputs"] == [{"kind": "stream", "name": "stdout", "text": LINES}]
    assert (told["number"], told["name"], told["state"]) == (2, "large", "ok")
    assert shown.json(told["cell"][:5])["cell"] == told["cell"]


def test_in_a_pipe_it_is_as_it_was_printed_and_streams_can_be_told_apart(shown: Shown) -> None:
    assert shown.text("3") == "out\x1b[31merr\n more"
    assert shown.text("3", "--stream", "stdout") == "out\x1b[31m more"
    assert shown.text("3", "--stream", "stderr") == "err\n"
    assert [each["name"] for each in shown.json("3")["outputs"]] == ["stdout", "stderr", "stdout"]


def test_on_a_terminal_it_is_harmless(shown: Shown) -> None:
    with OnTerminal(QUIRE, "output", shown.run, "3", at=shown.folder) as terminal:
        assert terminal.end() == 0
    assert terminal.raw == "outerr\r\n more\r\n"


def test_what_is_no_text_is_named_with_its_blob(shown: Shown) -> None:
    first, second, *rest = shown.text("pictures").splitlines()
    assert first == "<a picture>"
    named = re.fullmatch(r"\[image/png, 3,004 bytes, blob ([0-9a-f]{64})\]", second)
    assert named is not None
    assert rest == ["long " * 20_000, "[text/html, 8 bytes]"]
    picture, long = shown.json("pictures")["outputs"]
    assert picture["blobs"]["image/png"]["hash"] == named[1] and picture["data"] == {"text/plain": "<a picture>"}
    assert long["data"] == {"text/plain": "long " * 20_000, "text/html": "<b>x</b>"} and long["blobs"] == {}


def test_a_result_is_a_line_that_people_can_read(tmp_path: Path) -> None:
    (tmp_path / "book.py").write_text(
        "# %%\nfrom quire.kernel import result\nresult('best', 'Basel'); result('sold', [4, 2])\n"
    )
    log = json.loads(run("run", "book.py", "--json", at=tmp_path).stdout)["run"]
    assert run("output", log, "1", at=tmp_path).stdout == "best = Basel\nsold = [4, 2]\n"


def test_an_error_is_printed_with_its_traceback(shown: Shown) -> None:
    said = shown.text("fails")
    assert said.startswith("before\n") and "ZeroDivisionError" in said and said.endswith("division by zero\n")
    _, error = shown.json("fails")["outputs"]
    assert (error["kind"], error["ename"], bool(error["traceback"])) == ("error", "ZeroDivisionError", True)


@pytest.mark.parametrize(
    ("cell", "status", "said"),
    [
        ("1", 0, "is markdown: it shows nothing but itself"),
        ("6", 0, "showed nothing: it is skipped"),
        ("7", 2, "There is no cell '7'. The cells have the numbers 1 to 6."),
        ("lrge", 2, "Nearest: large"),
        ("", 2, "There is no cell ''"),
    ],
)
def test_a_cell_that_shows_nothing_or_is_not_there_is_told(shown: Shown, cell: str, status: int, said: str) -> None:
    done = run("output", shown.run, cell, at=shown.folder)
    assert (done.returncode, done.stdout, said in done.stderr) == (status, "", True), done.stderr


def test_a_reader_that_has_seen_enough_causes_no_complaint(shown: Shown) -> None:
    command = f"{QUIRE} output {shown.run} large | head -n 1"
    done = subprocess.run(["bash", "-c", command], cwd=shown.folder, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("line 0 日本\n", "")
