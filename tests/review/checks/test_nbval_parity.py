"""nbval itself beside ours: the same verdict on every cell of these notebooks."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from ...command import clean_environ

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="


def code(source: str, *outputs: dict[str, Any], tags: Any = None, count: int | None = 1) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "source": source,
        "outputs": list(outputs),
        "execution_count": count,
        "metadata": {} if tags is None else {"tags": tags},
    }


def out(text: str, name: str = "stdout") -> dict[str, Any]:
    return {"output_type": "stream", "name": name, "text": text}


def result(text: str, **more: Any) -> dict[str, Any]:
    data = {"text/plain": text, **{key.replace("_", "/"): value for key, value in more.items()}}
    return {"output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": data}


def display(**data: Any) -> dict[str, Any]:
    named = {key.replace("_", "/"): value for key, value in data.items()}
    return {"output_type": "display_data", "metadata": {}, "data": named}


def error(name: str, message: str) -> dict[str, Any]:
    return {"output_type": "error", "ename": name, "evalue": message, "traceback": ["somewhere else"]}


MARKDOWN: dict[str, Any] = {"cell_type": "markdown", "source": "# NBVAL_SKIP", "metadata": {}}
SHOW = "from IPython.display import display, HTML\n"

NOTEBOOKS: dict[str, list[dict[str, Any]]] = {
    "same": [code("a = 1"), code("print(a)", out("1\n")), code("a + 1", result("2"))],
    "differs": [code("print(1)", out("2\n")), code("1 + 1", result("3")), code("2", result("2"))],
    "missing": [code("pass", out("1\n")), code("None", result("1"))],
    "unexpected": [code("print(1)"), code("1"), code("print(1); 2", result("2"))],
    "more-of-one": [code(f"{SHOW}display('a'); display('b')", display(text_plain="'a'"))],
    "order-of-one": [code(f"{SHOW}display(1); display(2)", display(text_plain="2"), display(text_plain="1"))],
    "order-of-two": [code("print('x'); 5", result("5"), out("x\n"))],
    "pieces": [code("import sys\nfor n in range(3):\n    print(n); sys.stdout.flush()", out("0\n"), out("1\n2\n"))],
    "stderr": [
        code("import sys\nprint('w', file=sys.stderr)", out("w\n", "stderr")),
        code("print('w', file=sys.stderr)", out("v\n", "stderr")),
        code("print('w', file=sys.stderr)"),
    ],
    "progress": [code("print('10%\\r100%')", out("100%\n")), code("print('10%\\r100%')", out("10%\r100%\n"))],
    "raises": [code("1 / 0"), code("print(3)", out("3\n")), code("raise ValueError('x')", error("ValueError", "x"))],
    "may-raise": [
        code("# NBVAL_RAISES_EXCEPTION\n1 / 0", error("ZeroDivisionError", "division by zero")),
        code("# NBVAL_RAISES_EXCEPTION\nraise ValueError('now')", error("ValueError", "then")),
        code("# NBVAL_RAISES_EXCEPTION\nprint(1)", out("1\n")),
        code("# NBVAL_RAISES_EXCEPTION\nprint(1)", error("ValueError", "then")),
        code("raise KeyError('k')", error("KeyError", "'k'"), tags=["raises-exception"]),
        code("raise KeyError('k')", error("KeyError", "'k'"), tags=["nbval-raises-exception"]),
    ],
    "may-raise-unchecked": [
        code("# NBVAL_RAISES_EXCEPTION\n# NBVAL_IGNORE_OUTPUT\nraise ValueError('a')", error("KeyError", "b"))
    ],
    "ignored": [
        code("# NBVAL_IGNORE_OUTPUT\nprint(1)", out("2\n")),
        code("#NBVAL_IGNORE_OUTPUT\nprint(1)", out("2\n")),
        code("print(1)\n    # NBVAL_IGNORE_OUTPUT", out("2\n")),
        code("print(1) # NBVAL_IGNORE_OUTPUT", out("2\n")),
        code("# PYTEST_VALIDATE_IGNORE_OUTPUT\nprint(1)", out("2\n")),
        code("print(1)", out("2\n"), tags=["nbval-ignore-output"]),
        code("### NBVAL_IGNORE_OUTPUT\nprint(1)", out("2\n")),
        code("# NBVAL_IGNORE_OUTPUT please\nprint(1)", out("2\n")),
        code("# nbval_ignore_output\nprint(1)", out("2\n")),
    ],
    "ignored-and-raises": [code("# NBVAL_IGNORE_OUTPUT\n1 / 0", out("2\n"))],
    "checked": [
        code("# NBVAL_CHECK_OUTPUT\nprint(1)", out("2\n")),
        code("# NBVAL_CHECK_OUTPUT\nprint(1)", out("1\n")),
        code("print(1)", out("2\n"), tags=["nbval-check-output"]),
    ],
    "skipped": [
        code("# NBVAL_SKIP\n1 / 0", out("2\n")),
        code("open('never', 'w')", tags=["nbval-skip"]),
        code("import os\nprint(os.path.exists('never'))", out("False\n")),
    ],
    "contradicting": [
        code("# NBVAL_IGNORE_OUTPUT\n# NBVAL_CHECK_OUTPUT\nprint(1)", out("2\n")),
        code("# NBVAL_CHECK_OUTPUT\n# NBVAL_IGNORE_OUTPUT\nprint(1)", out("2\n")),
        code("# NBVAL_CHECK_OUTPUT\nprint(1)", out("2\n"), tags=["nbval-ignore-output"]),
        code("# NBVAL_IGNORE_OUTPUT\nprint(1)", out("2\n"), tags=["nbval-check-output"]),
        code("print(1)", out("2\n"), tags=["nbval-check-output", "nbval-ignore-output"]),
    ],
    "in-a-text": [code('"""\n# NBVAL_SKIP\n"""\n1 / 0')],
    "unrun": [
        code("print(1)", count=None),
        code("print(1)", out("1\n"), count=None),
        code("# NBVAL_IGNORE_OUTPUT\nprint(1)", out("1\n"), count=None),
    ],
    "empty": [code(""), code("   \n", count=None), MARKDOWN, code("print(1)", out("1\n"))],
    "no-code": [MARKDOWN],
    # No cell that ends its kernel: nbval waits for it until its time is over. None that ends in a semicolon: without a
    # history, as nbval runs cells, IPython shows its value all the same. No magic that is not there: nbval does not see that.
    "images": [
        code(f"import base64\n{SHOW}display({{'image/png': '{PNG}'}}, raw=True)", display(image_png=PNG)),
        code(f"display({{'image/png': '{PNG}'}}, raw=True)", display(image_png=PNG.replace("42mP8", "42mN8"))),
        code(f"display({{'image/png': '{PNG}', 'text/plain': 'x'}}, raw=True)", display(text_plain="x")),
    ],
    "html": [
        code(f"{SHOW}HTML('<b>1</b>')", result("<IPython.core.display.HTML object>", text_html="<b>1</b>")),
        code("HTML('<b>1</b>')", result("<IPython.core.display.HTML object>", text_html="<b>2</b>")),
        code("HTML('<b>1</b>')", result("<IPython.core.display.HTML object>")),
    ],
    "latex-and-json": [
        code(
            f"{SHOW}from IPython.display import Math, JSON\nMath('x^2')",
            result("<IPython.core.display.Math object>", text_latex="$\\displaystyle x^3$"),
        ),
        code("display({'application/json': {'a': [1, 2]}}, raw=True)", display(application_json={"a": [1, 2]})),
        code("display({'application/json': {'a': [1, 2]}}, raw=True)", display(application_json={"a": [1, 3]})),
    ],
    "counts-and-metadata": [
        code(f"{SHOW}display({{'text/plain': '1'}}, raw=True, metadata={{'a': 1}})", display(text_plain="1"), count=7)
    ],
    "state": [code("x = 1"), code("x += 1\nx", result("2")), code("x += 1\nx", result("4")), code("x", result("3"))],
    "magics": [
        code("%matplotlib inline\n%pwd\nprint(1)", out("1\n")),
        code("%%time\nprint(2)", out("2\n")),
        code("!echo hi", out("hi\r\n")),
        code("%%bash\necho a", out("a\n")),
    ],
    "syntax": [code("def ("), code("print(1)", out("1\n"))],
    "stdin": [code("input('x')"), code("print(1)", out("1\n"))],
    "async": [code("import asyncio\nawait asyncio.sleep(0)\nprint(1)", out("1\n"))],
    "last-expression": [code("_ = 1\n'x'", result("'x'")), code("[1,\n 2]", result("[1, 2]"))],
    "ansi": [code("print('\\x1b[31mred\\x1b[0m')", out("\x1b[31mred\x1b[0m\n"))],
    "long": [code("print('x' * 200_000)", out("x" * 200_000 + "\n")), code("print('x' * 9)", out("x" * 8 + "\n"))],
    "sanitized": [
        code("print('built at noon by Ada')", out("built at dawn by Ada\n")),
        code("print('built at noon by Ada')", out("built at dawn by Bob\n")),
        code("'id 77'", result("'id 12'")),
    ],
}
"""Files and their cells, each of which nbval judges and so do we."""
RULES = "[rules]\nregex: at (noon|dawn)\nreplace: at TIME\n\nregex: id \\d+\nreplace: id N\n"
NBVAL: tuple[str, ...] = ()
"""It is loaded by itself: the folder has no settings of ours."""
OURS = ("-p", "no:nbval")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("notebooks")
    for name, cells in NOTEBOOKS.items():
        numbered = [{**cell, "id": f"c{number}"} for number, cell in enumerate(cells)]
        notebook: dict[str, Any] = {"cells": numbered, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        (made / f"{name}.ipynb").write_text(json.dumps(notebook))
    (made / "rules.cfg").write_text(RULES)
    return made


def verdicts(folder: Path, name: str, *options: str) -> dict[str, str]:
    """Run pytest there, and return what became of each test."""
    report = folder / f"{name}.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-W", "ignore", "-p", "no:cacheprovider", f"--junit-xml={report}"]
    command += ["-n", "2", "--dist", "loadscope"]
    done = subprocess.run(
        [*command, *options], cwd=folder, env=clean_environ(), capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found: dict[str, str] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        outcome = next((child.tag for child in case if child.tag in ("failure", "error", "skipped")), "passed")
        found[f"{case.get('classname')} {case.get('name')}"] = outcome
    return found


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["--nbval", "--nbval-lax"])
def test_every_cell_gets_the_verdict_that_nbval_gives_it(folder: Path, mode: str) -> None:
    assert len(NOTEBOOKS) >= 25
    options = (mode, "--nbval-sanitize-with", "rules.cfg", "--nbval-cell-timeout", "100")
    theirs = verdicts(folder, f"theirs{mode}", *NBVAL, *options)
    ours = verdicts(folder, f"ours{mode}", *OURS, *options)
    assert theirs.keys() == ours.keys()
    assert {name: (theirs[name], ours[name]) for name in theirs if theirs[name] != ours[name]} == {}
    assert set(theirs.values()) == {"passed", "failure", "skipped"}
