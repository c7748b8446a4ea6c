"""Rule 16: whatever a cell does short of taking a secret apart, none is in anything that is kept."""

from __future__ import annotations

import base64
import html
import io
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow.parquet  # pyright: ignore[reportMissingTypeStubs]
import pytest

from ..command import QUIRE
from .test_environment import PATIENCE, quire, surroundings

TOKEN = "tok-4f9a8b7c6d5e"
ODD = 'it\'s "p&ss" <word>/ü+%'
URL = "postgresql://app:s3cr3t-w0rd@db.example.org/sales"
PIN = "471100815"
SECRETS = {"TOKEN": TOKEN, "ODD": ODD, "DATABASE_URL": URL, "PIN": PIN}

HEAD = f"""\
# /// script
# dependencies = []
# [tool.quire]
# secrets = {json.dumps(list(SECRETS))}
# ///

# %% tags=["parameters"]
token = ""
pin = 0

# %%
import base64, html, json, logging, os, subprocess, sys, time, urllib.parse, warnings
from IPython.display import HTML, JSON, Image, Markdown, clear_output, display, update_display
from quire.kernel import result
secret, odd, url = (os.environ[name] for name in ("TOKEN", "ODD", "DATABASE_URL"))
"""

# What each cell does, in a word, so that a failure names it.
WAYS = {
    "printed": "print(secret, odd, url, token, pin)",
    "in pieces": "for letter in secret + odd:\n    print(letter, end='', flush=True)",
    "across the size that stays inline": "print('x' * (65536 - 5) + secret)\nprint('y' * 100_000 + odd, end='')",
    "written over": "print('XXX' + secret[3:], end='')\nprint('\\r' + secret[:3])",
    "corrected": "print(secret[:5] + 'X\\b' + secret[5:])",
    "in colours": "print('\\x1b[31m' + secret[:4] + '\\x1b[0m' + secret[4:])",
    "between outputs": "print(secret[:4], end='', flush=True)\ndisplay(1)\nprint(secret[4:])",
    "on stderr": "sys.stderr.write(secret)\nlogging.warning(odd)\nwarnings.warn(url)",
    "by another process": "subprocess.run(['sh', '-c', 'echo $TOKEN; echo \"$ODD\" >&2'])\nos.write(1, secret.encode())",
    "as a value": "{'secret': [secret, odd], 'bytes': odd.encode()}",
    "as all variables": "dict(os.environ)",
    "as HTML": "HTML(f'<b>{html.escape(odd)}</b><i>{secret[:6]}</i><u>{secret[6:]}</u>')",
    "as Markdown": "Markdown(f'**{secret}**')",
    "as JSON": "JSON({'deep': [{secret: odd}], 'text': json.dumps({'inner': odd}), 'pin': int(os.environ['PIN'])})",
    "as an image": "Image(data=b'\\x89PNG\\r\\n\\x1a\\n' + secret.encode() + bytes(2000), format='png')",
    "encoded": "print(base64.b64encode(f'user:{secret}'.encode()).decode(), secret.encode().hex(), urllib.parse.quote(odd))",
    "the password of a URL": "print(urllib.parse.urlsplit(url).password)",
    "in metadata and by an id": (
        "display(1, metadata={'a': secret}, display_id=secret)\n"
        "update_display(HTML(secret), display_id=secret, metadata={secret: odd})"
    ),
    "as a media type": "display({f'text/{secret}': 'x', 'text/plain': odd}, raw=True)",
    "and cleared": "print(secret[:7], end='', flush=True)\nclear_output(wait=True)\nprint(secret)",
    "as results": (
        "result('text', secret)\nresult('json', {'a': [odd, secret]})\nresult(f'name {secret}', 1)\n"
        "result('pin', int(os.environ['PIN']))\nresult('bytes', odd.encode())"
    ),
    "as a result from a file": (
        "import pathlib, tempfile\npath = pathlib.Path(tempfile.mkdtemp(), 'key.txt')\n"
        "path.write_text('x' * 500 + secret * 3)\nresult('file', path, kind='file')"
    ),
    "as a table": (
        "import pandas\nframe = pandas.DataFrame({'key': [secret, odd], 'n': [1, 2]})\nresult('frame', frame)\nframe"
    ),
    "as a drawing": (
        "import io\nfrom matplotlib.figure import Figure\nfrom IPython.display import SVG\n"
        "figure, file = Figure(), io.StringIO()\nfigure.text(0.1, 0.1, secret)\nfigure.savefig(file, format='svg')\n"
        "SVG(file.getvalue())"
    ),
    "as a widget": (
        "import ipywidgets\nbox = ipywidgets.Text(value=secret, description=odd)\nbox.value = secret * 2\ndisplay(box)"
    ),
    "as a payload": "get_ipython().run_line_magic('load_ext', 'autoreload')\nget_ipython().set_next_input(secret)",
    "in a source": f"note = {TOKEN!r}",
    "in an error": (
        "class Leak(Exception):\n    def __init__(self, given): super().__init__(f'cannot use {given}')\n\n"
        "try:\n    {}[secret]\nexcept KeyError as error:\n    raise Leak(odd) from error"
    ),
}


def forms() -> Iterator[bytes]:
    """How a secret that slipped through may look in a file."""
    for value in (*SECRETS.values(), "s3cr3t-w0rd"):
        yield value.encode()
        yield json.dumps(value)[1:-1].encode()
        yield json.dumps(value, ensure_ascii=False)[1:-1].encode()
        yield json.dumps(repr(value))[1:-1].encode()
        yield html.escape(value).encode()
        yield quote(value).encode()
        yield value.encode().hex().encode()
        for before in range(3):
            # Without what belongs to the bytes around it.
            yield base64.b64encode(bytes(before) + value.encode())[4:-4]


def told_in(folder: Path) -> list[str]:
    """The files that tell a secret, and what they tell."""
    found: list[str] = []
    for path in sorted(folder.rglob("*")):
        data = path.read_bytes() if path.is_file() else b""
        for form in forms():
            if (at := data.find(form)) >= 0:
                found.append(f"{path.name}: …{data[max(0, at - 60) : at + 40]!r}")
    return found


@pytest.fixture(scope="module")
def leaky(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A folder in which a notebook was run that tells its secrets in every way."""
    folder = tmp_path_factory.mktemp("kept")
    notebook = tmp_path_factory.mktemp("source") / "leaky.py"
    cells = [f'# %% name="{name}" tags=["raises-exception"]\n{source}\n' for name, source in WAYS.items()]
    prose = f"# %% [markdown]\n# The key is {TOKEN}.\n\n# %%\nunnamed = {TOKEN!r}\n"
    notebook.write_text(f"{HEAD}\n{prose}\n" + "\n".join(cells))
    values = ("-p", "token", TOKEN, "-p", f"pin={PIN}", "-p", f"extra={URL}")
    files = ("--stdout-file", "out.txt", "--stderr-file", "err.txt", "--log-output")
    done = quire("run", notebook, "out.ipynb", "--json", *values, *files, at=folder, **SECRETS)
    assert done.returncode == 0, done.stderr
    return folder, done


def test_a_notebook_that_tells_its_secrets_in_every_way_leaves_none(
    leaky: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    folder, done = leaky
    assert {path.name for path in folder.iterdir()} >= {".quire", "out.ipynb", "out.txt", "err.txt"}
    assert told_in(folder) == []
    (folder / "printed").write_text(done.stdout + done.stderr)
    assert told_in(folder) == []


def test_and_every_way_was_tried(leaky: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    """A mark stands where a secret stood, and nothing else is missing."""
    folder, _ = leaky
    cells = {cell["metadata"].get("name"): cell for cell in json.loads((folder / "out.ipynb").read_text())["cells"]}
    errors = {name for name, cell in cells.items() for each in outputs(cell) if each["output_type"] == "error"}
    assert errors == {"in an error"}
    for name in WAYS.keys() - {"as a payload", "as an image", "as a result from a file"}:
        told = json.dumps([cells[name]["source"], outputs(cells[name])], ensure_ascii=False)
        assert "[secret " in told or "███" in told, name
    assert streams(cells["printed"]) == (
        "[secret TOKEN] [secret ODD] [secret DATABASE_URL] [secret TOKEN] [secret PIN]\n"
    )
    assert streams(cells["in pieces"]) == "[secret TOKEN][secret ODD]"
    long = streams(cells["across the size that stays inline"])
    assert long == "x" * (65536 - 5) + "[secret TOKEN]\n" + "y" * 100_000 + "[secret ODD]"


def test_what_else_is_in_a_table_or_a_file_can_still_be_read(
    leaky: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    folder, done = leaky
    results = json.loads(done.stdout)["scraps"]
    frame: Any = pyarrow.parquet.read_table(io.BytesIO(blob(folder, results["frame"]))).to_pydict()  # pyright: ignore
    assert frame["n"] == [1, 2]
    assert frame["key"] == ["*" * len(TOKEN), "*" * len(ODD.encode())]
    assert blob(folder, results["file"]) == b"x" * 500 + b"*" * len(TOKEN * 3)


def blob(folder: Path, result: Any) -> bytes:
    hash = result["blob"]
    return (folder / ".quire" / "blobs" / hash[:2] / hash[2:]).read_bytes()


def outputs(cell: Any) -> list[Any]:
    return cell.get("outputs", [])


def streams(cell: Any) -> str:
    return "".join("".join(each["text"]) for each in outputs(cell) if each["output_type"] == "stream")


def test_a_kernel_that_cannot_start_tells_none_of_what_it_printed(tmp_path: Path) -> None:
    kernel = tmp_path / "jupyter" / "kernels" / "broken"
    kernel.mkdir(parents=True)
    argv = ["sh", "-c", 'echo "no entry with $TOKEN"; exit 3', "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": argv, "language": "python", "display_name": "Broken"}))
    folder = tmp_path / "kept"
    folder.mkdir()
    (tmp_path / "x.py").write_text(f"{HEAD}\n")
    done = quire("run", "../x.py", "-k", "broken", at=folder, JUPYTER_PATH=str(tmp_path / "jupyter"), **SECRETS)
    assert (done.returncode, "no entry with [secret TOKEN]" in done.stderr) == (4, True), done.stderr
    assert told_in(folder) == []


def test_an_output_that_would_be_named_after_a_secret_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text(f"{HEAD}\n")
    done = quire("run", "x.py", "{token}.ipynb", "-p", "token", TOKEN, at=tmp_path, **SECRETS)
    assert (done.returncode, "would be called [secret TOKEN].ipynb" in done.stderr) == (2, True), done.stderr
    assert TOKEN not in done.stderr


def test_a_secret_too_short_to_be_told_from_other_text_is_warned_of(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text(f"{HEAD}\n")
    done = quire("run", "x.py", at=tmp_path, **(SECRETS | {"PIN": "47"}))
    assert (done.returncode, "Secret PIN has fewer than 4 characters" in done.stderr) == (0, True), done.stderr


def test_what_was_shown_before_the_client_was_killed_tells_none(tmp_path: Path) -> None:
    """What is on disk at any moment is clean: nothing is cleaned up later."""
    source = "# %%\nfor _ in range(3):\n    print(secret + odd, end='', flush=True)\nprint('now', flush=True)\ntime.sleep(600)\n"
    (tmp_path / "x.py").write_text(f"{HEAD}\n{source}")
    folder = tmp_path / "kept"
    folder.mkdir()
    process = subprocess.Popen(
        [QUIRE, "run", "../x.py", "x.ipynb", "--log-output"],
        cwd=folder,
        env=surroundings(**SECRETS),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stderr is not None
        while "now" not in process.stderr.readline():
            assert process.poll() is None
        process.kill()
        process.wait(PATIENCE)
    assert told_in(folder) == []
