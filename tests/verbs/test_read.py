"""Reading: what agents get of a notebook and of what cells showed, and that every byte left out can be had."""

from __future__ import annotations

import asyncio
import io
import json
import random
import re
import struct
import sys
import zlib
from base64 import b64decode, b64encode
from collections.abc import AsyncGenerator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from PIL import Image

from quire.core import events as e
from quire.core.errors import BadInput, NotFound, QuireError, Refused
from quire.core.events import Display, Output, Raised, Stream
from quire.core.ids import WORKSPACE_LOG, ActorId, CellId, ExecutionId
from quire.core.text import source_hash
from quire.formats.agent_text.render import tokens
from quire.formats.terminal_safe import plain
from quire.verbs.answers import search
from quire.verbs.answers.answer import Here, VerbAnswer
from quire.verbs.answers.pictures import LONG_SIDE, MOST_BYTES, picture
from quire.verbs.arguments import OutputArguments, ReadArguments
from quire.verbs.find import opened
from quire.verbs.read import output, read
from quire.workspace.clock import new_id

from ..command import run
from .live_notebook import Served, served

pytestmark = pytest.mark.asyncio(loop_scope="module")

HALF = 32 * 1024


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def nb(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Served]:
    """One notebook without a kernel: what its cells show was taken in."""
    async with served(tmp_path_factory.mktemp("nb"), "shown", with_kernel=False) as made:
        yield made


async def show(nb: Served, id: str, *outputs: Output) -> str:
    """Add a cell that showed this; returns the number at which it did."""
    source = f"show({id!r})"
    await nb.add(**{id: source})
    execution = ExecutionId(new_id())
    hash = source_hash(source)
    await nb.say(e.OutputsImported(execution=execution, cell=CellId(id), source_hash=hash, outputs=outputs))
    return str((await nb.read()).seq)


async def printed(nb: Served, text: str) -> Stream:
    """A text as a runtime keeps it: head, tail, and the whole in a blob."""
    ref = await nb.owner.put_blob(text.encode(), "text/plain")
    return Stream(name="stdout", head=text[:HALF], omitted=len(text) - 2 * HALF, tail=text[-HALF:], blob=ref)


async def whole(here: Here, of: str, budget: int = 50_000) -> str:
    """All pages of a handle, put together; each within its budget."""
    text, at = "", 0
    while True:
        page = await output(here, OutputArguments(notebook="shown", of=of, at=at, budget=budget))
        assert tokens(page.text) <= budget
        line, _, part = page.text.partition("\n")
        assert line.startswith(of.partition(":")[0]) and page.facts["start"] == at
        text += part
        at = int(str(page.facts["end"]))
        if "next: at=" not in line:
            assert at == page.facts["length"]
            return text
        assert f"next: at={at}]" in line


def handles(text: str) -> list[str]:
    """Every handle that a text names."""
    return re.findall(r'output\(of="([^"]+)"\)', text)


# ---- Notebooks


async def test_a_notebook_is_read_in_outline_and_chosen_cells_in_full(nb: Served) -> None:
    await show(nb, "out1", Stream(name="stdout", head="hello\n"))
    await nb.add(out2="two", out3="three")
    answer = await read(nb.here, ReadArguments(notebook="shown"))
    assert answer.text.startswith(f"shown [{nb.log[:10]}…] cursor ") and "> hello" not in answer.text
    assert answer.facts == {"notebook": nb.log, "name": "shown", "cursor": (await nb.read()).seq}
    chosen = await read(nb.here, ReadArguments(notebook=nb.log, cells=("out1-cell", "out2..out3")))
    assert [cell["id"] for cell in chosen.facts["cells"]] == ["out1", "out2", "out3"]
    assert "> hello" in chosen.text and "\n  three\n" in chosen.text
    with pytest.raises(NotFound, match="Nearest: out1"):
        await read(nb.here, ReadArguments(notebook="shown", cells=("out1-cel",)))


async def test_only_what_changed_since_a_number_is_read_on_request(nb: Served) -> None:
    await nb.add(since1="a = 1", since2="b = 1", since3="c = 1")
    seq = (await nb.read()).seq
    answer = await read(nb.here, ReadArguments(notebook="shown", since=seq))
    assert f"no cell changed since {seq}" in answer.text and answer.facts["cells"] == []
    await nb.say(
        e.SourceEdited(cell=CellId("since2"), text="b = 2", base_hash=source_hash("b = 1")),
        e.CellRemoved(cell=CellId("since3")),
    )
    answer = await read(nb.here, ReadArguments(notebook="shown", since=seq))
    assert "\n  b = 2\n" in answer.text and "a = 1" not in answer.text and "removed: since3" in answer.text
    assert [cell["id"] for cell in answer.facts["cells"]] == ["since2"]
    with pytest.raises(BadInput, match="past the end"):
        await read(nb.here, ReadArguments(notebook="shown", since=10**6))


async def test_a_file_is_read_without_becoming_a_notebook(nb: Served) -> None:
    png = io.BytesIO()
    Image.new("RGB", (700, 20), "red").save(png, "PNG")
    noise = b"\x89PNG\r\n\x1a\n" + random.Random(1).randbytes(3000)
    shown = [
        {"output_type": "stream", "name": "stdout", "text": ["line\n"] * 30_000},
        {"output_type": "display_data", "metadata": {}, "data": {"image/png": b64encode(png.getvalue()).decode()}},
        {"output_type": "display_data", "metadata": {}, "data": {"application/x-thing": b64encode(noise).decode()}},
    ]
    cell: dict[str, Any] = {
        "cell_type": "code",
        "id": "file1111",
        "metadata": {},
        "source": "f()",
        "execution_count": 1,
        "outputs": shown,
    }
    book: dict[str, Any] = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (nb.folder / "other.ipynb").write_text(json.dumps(book))
    answer = await read(nb.here, ReadArguments(notebook="other.ipynb", view="full"))
    assert "not open yet" in answer.text and "> line (×" in answer.text and answer.facts["notebook"] is None
    seen = await output(nb.here, OutputArguments(notebook="other.ipynb", of="file.1@3"))
    assert seen.pictures[0].media == "image/png"
    page = await output(nb.here, OutputArguments(notebook="other.ipynb", of="file.2@3", budget=3000))
    assert b64decode(page.text.partition("\n")[2]) == noise
    assert len(await nb.owner.logs()) == 1, "nothing was made of it"
    with pytest.raises(NotFound, match=r"no notebook, run or file '\.\./secret\.py'"):
        (nb.folder.parent / "secret.py").write_text("# %%\n")
        await read(nb.here, ReadArguments(notebook="../secret.py"))


async def test_a_token_for_one_notebook_reads_no_files_and_no_other_notebook(nb: Served) -> None:
    (nb.folder / "loose.py").write_text("# %%\nx = 1\n")
    token = await nb.owner.create_token(
        ActorId("agent:a"), ["read"], notebooks=[nb.log], on_behalf_of=nb.owner.identity.actor
    )
    theirs = Here(workspace=await nb.owner.bearer(token.secret), folder=nb.folder)
    assert (await read(theirs, ReadArguments(notebook="shown"))).facts["notebook"] == nb.log
    with pytest.raises(NotFound):
        await read(theirs, ReadArguments(notebook="loose.py"))


async def test_a_file_of_a_closed_notebook_is_closed(nb: Served) -> None:
    """Rule 13: the notebook and its file are one, also for those who may read neither."""
    (nb.folder / "closed.py").write_text("# %%\nkey = 1\n")
    log = await opened(nb.here, "closed.py")
    closed = e.RoleSet(actor=ActorId("human:boss"), role="owner", notebook=log)
    await nb.owner.submit(WORKSPACE_LOG, [e.Draft(id=new_id(), event=closed)])
    cases: list[tuple[list[e.Scope], type[QuireError]]] = [
        (["read", "edit", "run"], Refused),
        (["read", "edit"], NotFound),
    ]
    for scopes, refusal in cases:
        token = await nb.owner.create_token(ActorId("human:eve"), scopes)
        theirs = Here(workspace=await nb.owner.bearer(token.secret), folder=nb.folder)
        with pytest.raises(refusal, match="no role" if refusal is Refused else "no notebook"):
            await read(theirs, ReadArguments(notebook="closed.py"))


# ---- Every byte


async def test_fifty_megabytes_are_a_few_lines_and_all_of_it_is_there_page_by_page(nb: Served) -> None:
    text = "\n".join(f"{number:07} {'#' * (number % 40)} total {number * 7}" for number in range(1_300_000))
    assert len(text) > 50_000_000
    seq = await show(nb, "big1", await printed(nb, text))
    answer = await read(nb.here, ReadArguments(notebook="shown", cells=("big1",), budget=300))
    assert tokens(answer.text) <= 300 and "0000000" in answer.text and f"total {1_299_999 * 7}" in answer.text
    assert handles(answer.text) == [f"big1.0@{seq}"]
    assert sha256((await whole(nb.here, f"big1.0@{seq}")).encode()).digest() == sha256(text.encode()).digest()
    end = await output(nb.here, OutputArguments(notebook="shown", of=f"big1.0@{seq}", at=-100, budget=100))
    assert end.text.endswith(text[-100:]) and "next" not in end.text
    found = await output(nb.here, OutputArguments(notebook="shown", of="big1-cell", find=r"total 700000\b"))
    at = text.index("total 700000\n")
    assert f"\nat={at}: 0100000 " in found.text and found.facts["matches"] == [at]
    there = await output(nb.here, OutputArguments(notebook="shown", of="big1", at=at, budget=100))
    assert there.text.partition("\n")[2].startswith("total 700000\n")


async def test_every_handle_of_a_text_gives_all_that_it_stands_for(nb: Served) -> None:
    """Also of texts with any characters, of HTML, JSON, bytes and sources."""
    random_ = random.Random(7)
    wild = "".join(random_.choices("abc äö日本🎈\n\t", k=400_000)) + "\x1b[31mred\x1b[0m\u202e"
    page = "<table>" + "".join(f"<tr><td>{number}</td><td>é</td></tr>" for number in range(9000)) + "</table>"
    nested = {"rows": [{"n": number, "deep": [[[[[[["bottom"]]]]]]]} for number in range(5000)]}
    pdf = b"%PDF-1.7" + random_.randbytes(200_000)

    async def blob(data: bytes, media: str) -> e.BlobRef:
        return await nb.owner.put_blob(data, media)

    outputs: dict[str, Output] = {
        wild: await printed(nb, wild),
        page: Display(data={"text/html": page[:65536]}, blobs={"text/html": await blob(page.encode(), "text/html")}),
        json.dumps(nested, separators=(",", ":")): Display(
            blobs={
                "application/json": await blob(json.dumps(nested, separators=(",", ":")).encode(), "application/json")
            }
        ),
        b64encode(pdf).decode(): Display(blobs={"application/pdf": await blob(pdf, "application/pdf")}),
        "trace\nback": Raised(ename="E", evalue="v" * 3000, traceback=("trace", "back")),
    }
    seq = await show(nb, "all1", *outputs.values())
    answer = await read(nb.here, ReadArguments(notebook="shown", cells=("all1",), budget=600))
    assert tokens(answer.text) <= 600 and "! E: vvv" in answer.text
    named = {found.partition(":")[0]: found for found in handles(answer.text)}
    assert sorted(named) == [f"all1.{number}@{seq}" for number in range(5)]
    for number, expected in enumerate(outputs):
        assert await whole(nb.here, named[f"all1.{number}@{seq}"], 20_000) == plain(expected)


async def test_a_long_source_is_behind_a_handle_and_stays_what_it_was(nb: Served) -> None:
    source = "\n".join(f"x{number} = {number}" for number in range(20_000))
    await nb.add(long1=source)
    answer = await read(nb.here, ReadArguments(notebook="shown", cells=("long1",), budget=200))
    (handle,) = handles(answer.text)
    await nb.say(e.SourceEdited(cell=CellId("long1"), text="y = 1", base_hash=source_hash(source)))
    assert await whole(nb.here, handle) == source
    assert (await output(nb.here, OutputArguments(notebook="shown", of=handle, at=-9, budget=100))).text.endswith(
        source[-9:]
    )


async def test_all_outputs_of_a_cell_are_one_text(nb: Served) -> None:
    await show(
        nb,
        "many1",
        Stream(name="stdout", head="a\n"),
        Stream(name="stderr", head="b"),
        Display(data={"text/plain": "42", "text/html": "<b>42</b>"}),
        Display(data={"application/pdf": b64encode(b"x").decode()}),
    )
    answer = await output(nb.here, OutputArguments(notebook="shown", of="many1"))
    seq = (await nb.read()).seq
    assert answer.text.partition("\n")[2] == f'a\nb\n42\n\n[application/pdf: output(of="many.3@{seq}")]\n'
    some = await output(nb.here, OutputArguments(notebook="shown", of=f"many1.0-1@{seq}"))
    assert some.text.partition("\n")[2] == "a\nb"
    html = await output(nb.here, OutputArguments(notebook="shown", of=f"many1.2@{seq}:text/html"))
    assert html.text.endswith("<b>42</b>")
    named = await output(nb.here, OutputArguments(notebook="shown", of=f"many1.2@{seq}"))
    assert "(also text/html: output(of=HANDLE:MEDIA))" in named.text


# ---- What is wrong


@pytest.mark.parametrize(
    ("of", "more", "error", "said"),
    [
        ("nowher", {}, NotFound, "no cell 'nowher'"),
        ("wrong1.5", {}, NotFound, "no output 5 there: it has 0 to 0"),
        ("wrong1.0@1", {}, NotFound, "No execution of 'wrong1' began at 1"),
        ("wrong1.0@999999", {}, NotFound, "The notebook is at"),
        ("wrong1@999999", {}, BadInput, "There is no number 999999"),
        ("wrong1.0:text/x", {}, BadInput, "It has no 'text/x': it has text/plain"),
        ("wrong1", {"at": 100}, BadInput, "There is no character 100: it has 4"),
        ("wrong1", {"find": "x" * 2000}, BadInput, "at most 1,000 characters"),
        ("wrong1", {"find": "x", "at": -1}, BadInput, "`at` is 0 or more"),
        ("\x00", {}, NotFound, "no cell"),
    ],
)
async def test_a_wrong_handle_is_told_with_what_there_is(
    nb: Served, of: str, more: dict[str, int], error: type[Exception], said: str
) -> None:
    if CellId("wrong1") not in (await nb.read()).cells:
        await show(nb, "wrong1", Display(data={"text/plain": "fine"}))
    with pytest.raises(error, match=re.escape(said)):
        await output(nb.here, OutputArguments(notebook="shown", of=of, **more))  # type: ignore[arg-type]


async def test_a_cell_that_showed_nothing_says_so(nb: Served) -> None:
    await nb.add(quiet1="1")
    answer = await output(nb.here, OutputArguments(notebook="shown", of="quiet1"))
    assert "quie showed nothing: it is never_run" in answer.text


# ---- Looking for something


async def test_what_is_no_expression_is_looked_for_as_it_is(nb: Served) -> None:
    await show(nb, "find1", Stream(name="stdout", head="a\nf(x[0]\nb\n"))
    answer = await output(nb.here, OutputArguments(notebook="shown", of="find1", find="f(x["))
    assert "1 of 1 matching lines; no regular expression" in answer.text and "\nat=2: f(x[0]" in answer.text


async def test_many_matches_are_counted_and_go_on(nb: Served) -> None:
    text = "\n".join(f"hit {number}" if number % 3 else "miss" for number in range(3000)) + "\n" + "z" * 30_000 + "hit"
    await show(nb, "find2", await printed(nb, text))
    found: list[int] = []
    at = 0
    while True:
        answer = await output(
            nb.here, OutputArguments(notebook="shown", of="find2", find="^hit|hit$", at=at, budget=1500)
        )
        assert tokens(answer.text) <= 1500
        lines = answer.text.split("\n")
        found += [int(line.partition(":")[0].removeprefix("at=")) for line in lines[1:]]
        following = re.search(r"next: at=(\d+)\]", lines[0])
        if following is None:
            break
        at = int(following[1])
        assert len(found) < 4000
    assert found == [match.start() for match in re.finditer("^hit|hit$", text, re.MULTILINE)]


async def test_an_expression_without_end_is_stopped_and_holds_up_nobody(
    nb: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "SECONDS", 2.0)
    await show(nb, "find3", Stream(name="stdout", head="ab\n" + "a" * 60 + "!\n"))
    answer = await output(nb.here, OutputArguments(notebook="shown", of="find3", find=r"(a+)+b"))
    assert "stopped: it took longer than" in answer.text and "\nat=0: ab" in answer.text


# ---- Pictures


def png(width: int, height: int, *, noise: bool = False) -> bytes:
    image = (
        Image.effect_noise((width, height), 200).convert("RGB") if noise else Image.new("RGBA", (width, height), "red")
    )
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


async def look(nb: Served, id: str, data: bytes, media: str = "image/png") -> VerbAnswer:
    ref = await nb.owner.put_blob(data, media)
    seq = await show(nb, id, Display(data={"text/plain": "<Figure size 1x1>"}, blobs={media: ref}))
    return await output(nb.here, OutputArguments(notebook="shown", of=f"{id}.0@{seq}"))


async def test_a_picture_is_scaled_down_until_it_is_cheap_to_look_at(nb: Served) -> None:
    answer = await look(nb, "pic1", png(2500, 1500, noise=True))
    (seen,) = answer.pictures
    with Image.open(io.BytesIO(seen.data)) as image:
        assert max(image.size) == LONG_SIDE and image.format == {"image/jpeg": "JPEG", "image/png": "PNG"}[seen.media]
    assert len(seen.data) <= MOST_BYTES
    assert "[image/png 2500×1500 " in answer.text and "scaled down to 1000×600" in answer.text
    whole = await output(nb.here, OutputArguments(notebook="shown", of="pic1"))
    assert whole.pictures == (seen,), "also where the cell is named alone"


async def test_a_small_picture_is_as_it_was(nb: Served) -> None:
    data = png(64, 48)
    assert [each.data for each in (await look(nb, "pic2", data)).pictures] == [data]


async def test_what_is_no_picture_or_too_large_to_unpack_is_refused(nb: Served) -> None:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    bomb = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 60_000, 60_000, 1, 0, 0, 0, 0))
    for id, data, said in (
        ("pic3", bomb + chunk(b"IDAT", zlib.compress(bytes(10**6))), "60,000×60,000 is too large"),
        ("pic4", b"no picture", "cannot be read as a picture"),
        ("pic5", png(300, 300)[:200], "cannot be read as a picture"),
    ):
        with pytest.raises(BadInput, match=said):
            await look(nb, id, data)


async def test_a_drawing_is_text(nb: Served) -> None:
    svg = "<svg xmlns='http://www.w3.org/2000/svg'><script>steal()</script></svg>"
    seq = await show(nb, "pic6", Display(data={"image/svg+xml": svg}))
    answer = await output(nb.here, OutputArguments(notebook="shown", of=f"pic6.0@{seq}"))
    assert answer.text.endswith(svg) and answer.pictures == ()


async def test_without_pillow_small_pictures_are_shown_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    data = png(1500, 20)
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert picture(data, "image/png").data == data
    with pytest.raises(BadInput, match="Pillow is not installed"):
        picture(data + bytes(1_000_000), "image/png")


# ---- The command line


async def test_the_command_line_pages_searches_and_writes_pictures(nb: Served, tmp_path: Path) -> None:
    async def quire(*words: str) -> tuple[int, str]:
        done = await asyncio.to_thread(run, *words, at=nb.folder)
        return done.returncode, done.stdout + done.stderr

    data = png(40, 30)
    ref = await nb.owner.put_blob(data, "image/png")
    seq = await show(nb, "line1", Stream(name="stdout", head="one\ntwo\n"), Display(blobs={"image/png": ref}))
    assert await quire("output", "shown", f"line1.0@{seq}", "--from", "4") == (
        0,
        f"line.0@{seq} imported stdout [characters 4-8 of 8]\ntwo\n\n",
    )
    assert "at=4: two" in (await quire("output", "shown", "line1", "--find", "t.o"))[1]
    status, _ = await quire("output", "shown", "line1", "--image", str(tmp_path / "a.png"))
    assert (status, (tmp_path / "a.png").read_bytes()) == (0, data)
    assert (await quire("output", "shown", "line1", "--image", "x", "--from", "1"))[0] == 2
    shown = await quire("show", "shown", "--cell", "line1", "--budget", "200")
    assert "> one\n> two\n" in shown[1] and tokens(shown[1]) <= 200
    assert (await quire("show", "shown", "--seq", "1", "--budget", "200"))[0] == 2
