"""Notebooks in several languages, with parameters, in the real kernels of those languages."""

from __future__ import annotations

import datetime as dt
import json
import math
from pathlib import Path
from typing import Any
from zlib import crc32
from zoneinfo import ZoneInfo

import pytest

import quire

from ..command import run_process as run
from ..other_kernels import register


@pytest.fixture
def kernels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The variables with which Jupyter finds kernels for bash, TypeScript and R."""
    return register(tmp_path_factory.mktemp("jupyter"))


def cell(source: str, *tags: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "id": f"cell-{crc32(source.encode()):x}",
        "metadata": {"tags": list(tags)},
        "source": source,
        "outputs": [],
        "execution_count": None,
    }


def notebook(*cells: dict[str, Any], kernel: str | None = None, language: str = "python") -> dict[str, Any]:
    spec = {"kernelspec": {"name": kernel, "display_name": kernel, "language": language}} if kernel else {}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": spec, "cells": list(cells)}


def printed(node: Any) -> str:
    outputs = node["cells"][-1]["outputs"]
    return "".join("".join(each["text"]) for each in outputs if each["output_type"] == "stream")


# ---- Python


VALUES: dict[str, Any] = {
    "nan": math.nan,
    "infinite": [math.inf, -math.inf, -0.0, 5e-324],
    "big": 2**80,
    "tuples": (1, (2,), ()),
    "sets": [{1}, set[int](), frozenset({"a"})],
    "raw": b"\x00\xff'\"",
    "day": dt.date(2026, 10, 1),
    "moment": dt.datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=1),
    "hour": dt.time(1, 2, 3, 4),
    "before": dt.timedelta(days=-1, microseconds=5),
    "path": Path("a b/c'd.txt"),
    "nested": {"a": [1, {"b": (None, True, 1.5)}], 3: {"x"}, (1, 2): b""},
    "unicode": "é🦊\u2028\x85\x00\x1b[0m",
    "quotes": "a'b\"c\\d\n\t{x}%s$x`#",
    "nothing": None,
    "yes": True,
    "whole": 1.0,
}


def test_every_value_of_python_is_exactly_the_same_in_its_kernel(tmp_path: Path) -> None:
    shown = f"print(ascii({{{', '.join(f'{name!r}: {name}' for name in VALUES)}}}))"
    outcome = quire.run(notebook(cell(shown)), parameters=VALUES, progress_bar=False, at=tmp_path)
    assert printed(outcome.notebook) == f"{VALUES!a}\n"


def test_half_a_character_in_a_cell_is_refused_by_the_cells_number(tmp_path: Path) -> None:
    with pytest.raises(quire.BadInput, match=r"The notebook: cell 2 \(.*\) holds half a character"):
        quire.run(notebook(cell("1"), cell("2") | {"source": "'\ud800'"}), at=tmp_path, progress_bar=False)


def test_half_a_character_is_refused_by_the_name_of_its_parameter(tmp_path: Path) -> None:
    """No log can hold it (docs/spec.md): nothing is started, and nothing recorded."""
    with pytest.raises(quire.BadInput, match="parameter 'name' holds half a character"):
        quire.run(notebook(cell("name")), parameters={"name": "a\ud800"}, at=tmp_path)
    assert not (tmp_path / ".quire").exists()


# ---- Others


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "language", "declared", "shows", "values", "seen"),
    [
        (
            "bash",
            "bash",
            "who=nobody\ntop=1\n",
            'echo "$who|$((top + 1))|${#list[@]}|${list[1]}|${keyed[a]}|$day|$yes|$path"',
            {"who": 'it\'s "é" $HOME', "list": [1, "b c"], "keyed": {"a": 1.5}, "day": dt.date(2026, 10, 1)}
            | {"yes": True, "path": Path("a b")},
            'it\'s "é" $HOME|8|2|b c|1.5|2026-10-01|true|a b\n',
        ),
        (
            "ir",
            "R",
            'who = "nobody"\ntop = 1L\n',
            "stopifnot(is.nan(nan), none, is.null(nothing), inf == Inf, identical(raw, as.raw(c(0, 255))),"
            ' identical(day, as.Date("2026-10-01")), identical(list, list(1L, "b c")), tenth == 0.1)\n'
            'cat(utf8ToInt(who), top + 1L, class(top), keyed$a, "\\n")',
            {"who": "'\"é\\", "nan": math.nan, "inf": math.inf, "none": True, "nothing": None, "raw": b"\x00\xff"}
            | {"day": dt.date(2026, 10, 1), "list": [1, "b c"], "tenth": 0.1, "keyed": {"a": 1.5}},
            "39 34 233 92 8 integer 1.5 \n",
        ),
        (
            "deno",
            "typescript",
            'var who: string = "nobody";\nvar top: number = 1;\n',
            "console.log(JSON.stringify([who, top + 1, Object.is(nan, NaN), inf === Infinity, [...set], raw[1], keyed]));",
            {"who": "'\"é`${x}\\\u2028", "nan": math.nan, "inf": math.inf, "set": {2}, "raw": b"\x00\xff"}
            | {"keyed": {"a": [None, True, -0.5]}},
            json.dumps(["'\"é`${x}\\\u2028", 8, True, True, [2], 255, {"a": [None, True, -0.5]}], ensure_ascii=False)
            .replace(", ", ",")
            .replace(": ", ":")
            + "\n",
        ),
    ],
)
def test_a_notebook_runs_in_its_language_with_its_parameters(
    tmp_path: Path,
    kernels: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    kernel: str,
    language: str,
    declared: str,
    shows: str,
    values: dict[str, Any],
    seen: str,
) -> None:
    # The values that a command line has no words for come from Python; the rest is typed.
    written = notebook(cell(declared, "parameters"), cell(shows), kernel=kernel, language=language)
    for name, value in kernels.items():
        monkeypatch.setenv(name, value)
    outcome = quire.run(written, tmp_path / "out.ipynb", values | {"top": 7}, progress_bar=False, at=tmp_path)
    assert printed(json.loads((tmp_path / "out.ipynb").read_text())) == seen
    assert (outcome.status, outcome.cells_executed, outcome.interpreter) == ("success", 3, None)
    assert outcome.notebook.cells[1].metadata.tags == ["injected-parameters"]


@pytest.mark.slow
def test_a_script_in_bash_runs_from_the_command_line(tmp_path: Path, kernels: dict[str, str]) -> None:
    (tmp_path / "greet.sh").write_text('# %% tags=["parameters"]\nwho=nobody\n\n# %%\necho "Hello, $who."\n')
    done = run("run", "greet.sh", "out.ipynb", "-p", "who", "it's me", "--json", at=tmp_path, env=kernels)
    assert (done.returncode, json.loads(done.stdout)["status"]) == (0, "success"), done.stderr
    made = json.loads((tmp_path / "out.ipynb").read_text())
    assert printed(made) == "Hello, it's me.\n"
    assert made["metadata"]["kernelspec"]["name"] == "bash"


@pytest.mark.slow
@pytest.mark.parametrize("named", [("-k", "bash"), ("-l", "bash")])
def test_whoever_names_a_kernel_or_a_language_decides_that_of_the_parameters(
    tmp_path: Path, kernels: dict[str, str], named: tuple[str, str]
) -> None:
    (tmp_path / "plain.ipynb").write_text(json.dumps(notebook(cell('echo "$a b"'))))
    done = run("run", "plain.ipynb", "-", *named, "-p", "a", "x y", at=tmp_path, env=kernels)
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert ("".join(made["cells"][0]["source"]), printed(made)) == ("# Parameters\na='x y'\n", "x y b\n")
    assert made["metadata"]["language_info"]["name"] == "bash"


def test_an_unknown_kernel_is_refused_and_the_nearest_are_named(
    tmp_path: Path, kernels: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in kernels.items():
        monkeypatch.setenv(name, value)
    asked: list[tuple[dict[str, Any], str]] = [
        ({"kernel_name": "dino"}, "There is no kernel 'dino' here. Did you mean deno?"),
        ({"kernel_name": "bosh"}, "Did you mean bash?"),
        ({"kernel_name": "zzz"}, "Known: bash, deno, ir, python3"),
        ({"language": "fortran"}, "There is no kernel for 'fortran' here"),
    ]
    for named, said in asked:
        with pytest.raises(quire.BadInput) as refused:
            quire.run(notebook(cell("1")), at=tmp_path, progress_bar=False, **named)
        assert said in str(refused.value)


@pytest.mark.slow
def test_what_a_kernel_shows_after_it_said_that_it_is_done_belongs_to_the_cell(
    tmp_path: Path, kernels: dict[str, str]
) -> None:
    """Deno does so now and then: most of all in its first cells, and the last one has nobody after it."""
    display = 'await Deno.jupyter.display({"text/plain": "shown"}, {raw: true})'
    book = notebook(cell(display), cell("1 + 1"), cell(display), cell("40 + 2"), kernel="deno", language="typescript")
    (tmp_path / "n.ipynb").write_text(json.dumps(book))
    for _ in range(3):
        done = run("run", "n.ipynb", "out.ipynb", at=tmp_path, env=kernels)
        assert done.returncode == 0, done.stderr
        cells = json.loads((tmp_path / "out.ipynb").read_text())["cells"]
        shown = [["".join(output["data"]["text/plain"]) for output in each["outputs"]] for each in cells]
        assert [len(each) for each in shown] == [1, 1, 1, 1]
        assert "42" in shown[3][0]
