"""A notebook as a page: readable, whole, and harmless whatever the notebook holds."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Browser, Page, sync_playwright

from quire.core.errors import BadInput
from quire.core.events import CellKind
from quire.core.ids import ActorId, CellId, CommentId
from quire.core.notebook.notebook import Comment
from quire.core.sheet.sheet import Sheet, SheetCell, with_ids
from quire.formats import registry
from quire.formats.html import escape, markdown, sanitizer
from quire.formats.html import format as html

from ..chromium import chromium_path
from ..corpus import NOTEBOOKS, for_each, huge_outputs, text_of

LOADING = 180_000
"""Milliseconds for a page to be still: on a busy machine a hostile one, with its many frames, takes its time."""
VOID = {"meta", "br", "hr", "img", "col", "wbr", "source", "input"}


class Reader(HTMLParser):
    """Reads a page as a browser might, and notes what is in it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self.faults: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        self.faults += [f"<{tag}> is not closed" for tag in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.faults.append(f"</{tag}> closes nothing")

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.tags if name == tag]


def cell(source: str = "", kind: CellKind = "code", **fields: Any) -> SheetCell:
    return SheetCell(id=CellId(""), kind=kind, source=source, **fields)


def page_of(*cells: SheetCell, path: str = "a.html", **metadata: Any) -> str:
    return html.write(Sheet(cells=with_ids(cells), metadata=metadata), path)


def of_output(data: dict[str, Any], **metadata: Any) -> str:
    """The page of a notebook with one output, without the head."""
    output = {"output_type": "display_data", "data": data, "metadata": metadata}
    return page_of(cell("x", outputs=[output])).partition("<body>")[2]


def stream(text: str, name: str = "stdout") -> dict[str, Any]:
    return {"output_type": "stream", "name": name, "text": text}


# ---- Every notebook


@for_each(NOTEBOOKS)
def test_every_notebook_becomes_one_whole_page(path: Path) -> None:
    sheet = registry.read(text_of(path), str(path))
    page = registry.write(sheet, "page.html")
    page.encode()
    read = Reader(page)
    assert read.faults == []
    assert "script" not in {tag for tag, _ in read.tags}
    for _, attributes in read.tags:
        assert not [name for name in attributes if name.startswith("on")]
        assert attributes.get("src", "data:").startswith("data:")
    cells = [attributes["id"] for attributes in read.all("section")]
    assert len(cells) == len(sheet.cells)
    assert read.all("h1")
    anchors = [attributes["id"] for _, attributes in read.tags if "id" in attributes]
    assert len(set(anchors)) == len(anchors)


def test_the_policy_stands_before_anything_else_and_forbids_all_but_styles_and_data() -> None:
    page = page_of(cell("# x", "markdown"))
    head = page[: page.index("<title>")]
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in head
    assert "script-src" not in page


def test_a_page_cannot_be_read_back() -> None:
    with pytest.raises(BadInput, match=r"a\.html is a page .* cannot be read back"):
        registry.read("<p>", "a.html")


@pytest.mark.parametrize("module", ["markdown_it", "pygments.lexers"])
def test_without_its_libraries_a_page_says_what_to_install(module: str) -> None:
    program = (
        f"import sys; sys.modules[{module!r}] = None\n"
        "from quire.core.errors import Unavailable\n"
        "from quire.core.sheet.sheet import Sheet, SheetCell\n"
        "from quire.formats import registry as formats\n"
        "cells = (SheetCell(id='a', kind='markdown', source='x'), SheetCell(id='b', source='x'))\n"
        "try:\n    formats.write(Sheet(cells=cells), 'a.html')\n"
        "except Unavailable as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "quire[html]" in done.stdout


# ---- Title, headings, contents


@pytest.mark.parametrize(
    ("metadata", "source", "title", "heads"),
    [
        ({"title": "From metadata"}, "# Heading", "From metadata", ["h1", "h2"]),
        ({"quire": {"title": "Ours"}}, "text", "Ours", ["h1"]),
        ({"title": "Same"}, "# Same", "Same", ["h1"]),
        ({}, "# A *first* `heading`\n\n## Next", "A first heading", ["h1", "h2"]),
        ({"title": 3}, "no heading", "a & b", ["h1"]),
    ],
)
def test_the_title_is_said_or_found(metadata: dict[str, Any], source: str, title: str, heads: list[str]) -> None:
    page = page_of(cell(source, "markdown"), path="runs/a & b.html", **metadata)
    assert f"<title>{escape.escape(title)}</title>" in page
    assert [tag for tag, _ in Reader(page).tags if re.fullmatch(r"h\d", tag)] == heads


def test_headings_are_linked_to_from_the_contents_and_from_the_text() -> None:
    source = "# T\n\n## The walk\n\n## The walk\n\n## A [b](https://c.d) & \\<e>\n\n[there](#The-walk)"
    read = Reader(page_of(cell(source, "markdown")))
    targets = {attributes["href"][1:] for attributes in read.all("a") if attributes.get("href", "").startswith("#")}
    assert targets == {"notebook", "The-walk", "The-walk-2", "A-b-&-<e>"}
    assert targets <= {attributes["id"] for _, attributes in read.tags if "id" in attributes}


# ---- Markdown


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a $x_1*y$ b *c*", '<code class="math">x_1*y</code> b <em>c</em>'),
        ("$$\na\n\n- b\n$$", '<pre class="math"><code class="math">a\n\n- b</code></pre>'),
        ("\\begin{align}\nx &= 1 \\\\\n\\end{align}", "x &amp;= 1 \\\\"),
        ("cost $5 and $6", "<p>cost $5 and $6</p>"),
        ("`$x$`", "<code>$x$</code>"),
        ("| a | b |\n|--|--:|\n| 1 | 2 |", '<td style="text-align:right">2</td>'),
        ("```python\nif x: pass\n```", '<span class="k">if</span> x: <span class="k">pass</span>'),
        ("[a](https://b.c?d=1&e 'T')", '<a href="https://b.c?d=1&amp;e" title="T" rel="noopener noreferrer">a</a>'),
        ("[a](other.ipynb)", "<a>a</a>"),
        ("[a](javascript:alert(1))", "<a>a</a>"),
        ("![alt](https://b.c/d.png)", 'Picture: <a href="https://b.c/d.png" rel="noopener noreferrer">alt</a>'),
        ("![alt](data:image/png;base64,AAAA)", '<img src="data:image/png;base64,AAAA" alt="alt">'),
        ("![alt](data:text/html;base64,AAAA)", "Picture: alt"),
        ("a<br>b <b title='x' onclick='y'>c", '<b title="x">c</b>'),
        ("<details><summary>S</summary>\n\n*in*\n\n</details>", "<em>in</em>"),
        ("a <script>b</script> c", "<p>a  c</p>"),
        ("</div></section>out", "out"),
        ("~~gone~~", "<s>gone</s>"),
    ],
)
def test_markdown_is_rendered(source: str, expected: str) -> None:
    rendered = markdown.render(source)
    assert expected in rendered
    assert Reader(rendered).faults == []


def test_attachments_are_in_the_page() -> None:
    dot = "iVBORw0KGgo="
    shown = page_of(
        cell(
            "![a](attachment:a%20b.png) ![c](attachment:c.svg) ![d](attachment:d.png)",
            "markdown",
            attachments={
                "a b.png": {"image/png": dot},
                "c.svg": {"image/svg+xml": "<svg/>"},
                "d.png": {"text/html": "<script>"},
            },
        )
    )
    sources = [attributes["src"] for attributes in Reader(shown).all("img")]
    assert sources == [f"data:image/png;base64,{dot}", "data:image/svg+xml;base64,PHN2Zy8+"]
    assert "Picture: d" in shown


# ---- Sources


def test_sources_are_highlighted_in_their_language() -> None:
    read = page_of(cell("x <- TRUE"), kernelspec={"language": "R", "name": "ir", "display_name": "R"})
    assert '<span class="n">TRUE</span>' in read
    assert '<span class="k">SELECT</span>' in page_of(cell("SELECT 1", "sql"))
    assert '<span class="d">%%html\n</span>' in page_of(cell("%%html\n<b>x</b>"))
    assert "<code>who &lt; knows</code>" in page_of(
        cell("who < knows"), kernelspec={"language": "</style>", "name": "x", "display_name": "x"}
    )


def test_code_that_reads_otherwise_than_it_runs_is_shown_as_it_is() -> None:
    assert '<span class="invisible">⟨U+202E⟩</span>' in page_of(cell("a = '\u202eb'"))
    assert '<span class="invisible">⟨U+D83D⟩</span>' in page_of(cell("a = '\ud83d'"))


@pytest.mark.parametrize(
    ("fields", "folded"),
    [
        ({"tags": ("hide-input",)}, ["Source"]),
        ({"tags": ("remove_input",)}, ["Source"]),
        ({"tags": ("hide-output",)}, ["Output"]),
        ({"tags": ("remove_cell",)}, ["Source", "Output"]),
        ({"metadata": {"jupyter": {"source_hidden": True}}}, ["Source"]),
        ({"metadata": {"jupyter": {"outputs_hidden": True}}}, ["Output"]),
        ({"metadata": {"jupyter": "odd"}}, []),
        ({}, []),
    ],
)
def test_what_the_author_folded_away_is_folded(fields: dict[str, Any], folded: list[str]) -> None:
    page = page_of(cell("x", outputs=[stream("y")], **fields))
    assert re.findall("<summary>(.*?)</summary>", page) == folded


# ---- Outputs


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain <b>", "plain &lt;b&gt;"),
        ("\x1b[1;31mred\x1b[0m", '<span class="bold c1">red</span>'),
        ("\x1b[92mgreen\x1b[39m.", '<span class="c10">green</span>.'),
        ("\x1b[38;5;208mx", '<span class="x" style="--x:#ff8700">x</span>'),
        ("\x1b[38;2;1;2;300mx", '<span class="x" style="--x:#0102ff">x</span>'),
        ("\x1b[38;5;9mx", '<span class="c9">x</span>'),
        ("\x1b[41mx", '<span style="color:#ffffff;background:#cd3131">x</span>'),
        ("\x1b[7mx\x1b[27my", '<span class="inverse">x</span>y'),
        ("\x1b[2K\x1b[1Ax\x1b]0;title\x07y", "xy"),
        ("\x1b]8;;https://a.b\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b[38;5mx\x1b[48mx\x1b[999999999mx", "xxx"),
        ("10%\r20%\rdone\n", "done\n"),
        ("abc\rX", "Xbc"),
        ("ab\b\bX\r\n", "Xb\n"),
        ("a\x00b", 'a<span class="invisible">⟨U+0000⟩</span>b'),
    ],
)
def test_terminal_text_is_shown_as_a_terminal_would(text: str, expected: str) -> None:
    assert escape.terminal(text) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"image/png": "iVBO\nRw0K", "text/plain": "<Figure>"}, 'alt="Picture, output of cell 1"'),
        ({"image/png": "iVBORw0K", "text/html": "<b>x</b>"}, 'src="data:image/png;base64,iVBORw0K"'),
        ({"image/png": '"><script>', "text/plain": "p"}, "A picture that cannot be shown: image/png, 10 bytes."),
        ({"image/svg+xml": "<svg/>"}, 'src="data:image/svg+xml;base64,PHN2Zy8+"'),
        ({"text/html": "<b>x</b>", "text/plain": "p"}, "&lt;b&gt;x&lt;/b&gt;"),
        ({"text/html": "<div id=a></div><script>f()</script>", "text/plain": "<Plot>"}, "&lt;Plot&gt;"),
        ({"text/html": "<script>f()</script>"}, "An output that a script draws."),
        ({"text/markdown": "*x*", "text/plain": "p"}, "<em>x</em>"),
        ({"text/latex": "$\\displaystyle x$"}, '<code class="math">x</code>'),
        ({"application/json": {"a": [1]}}, "{\n  &quot;a&quot;: [\n    1\n  ]\n}"),
        (
            {"application/vnd.vega+json": {"a": 1}, "text/plain": "<Vega>"},
            "<summary>application/vnd.vega+json</summary>",
        ),
        ({"application/javascript": "alert(1)"}, "A script of 8 bytes, not run in this page"),
        ({"application/vnd.jupyter.widget-view+json": {"model_id": "a"}, "text/plain": "Slider()"}, "Slider()"),
        ({"application/scrapbook.scrap.json+json": {"name": "n", "data": 1.5}}, "<b>n</b> = <code>1.5</code>"),
        (
            {"audio/wav": "UklGRg=="},
            '<audio controls aria-label="Output of cell 1" src="data:audio/wav;base64,UklGRg==">',
        ),
        ({"application/x-a": "b"}, "Nothing that a page can show: application/x-a."),
        ({"text/plain": ["a", "b"]}, ">ab</pre>"),
        ({"text/plain": None, "text/html": 3}, "srcdoc="),
    ],
)
def test_the_richest_form_that_is_safe_is_shown(data: dict[str, Any], expected: str) -> None:
    assert expected in of_output(data)


def test_html_stands_in_a_frame_that_may_nothing() -> None:
    (frame,) = Reader(of_output({"text/html": "<link rel=preconnect href=//a.b><form><p>x</p></form>"})).all("iframe")
    assert frame["sandbox"] == ""
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in frame["srcdoc"]
    inside = [tag for tag, _ in Reader(frame["srcdoc"].partition("<body>")[2]).tags]
    assert inside == ["x-link", "x-form", "p"]


def test_errors_are_shown_with_their_traceback_or_what_they_say() -> None:
    error = {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["\x1b[31mE\x1b[39m", "at"]}
    assert '<span class="c1">E</span>\nat' in page_of(cell("x", outputs=[error]))
    assert "E: v</pre>" in page_of(cell("x", outputs=[error | {"traceback": []}]))


def test_huge_outputs_are_cut_and_the_page_says_how_much() -> None:
    page = html.write(registry.read(huge_outputs(), "a.ipynb"), "a.html")
    assert len(page) < 8_000_000
    assert re.search(r"… [\d,]+ lines, 4\.9 MB, left out …", page)
    assert "An HTML output of" in page
    assert Reader(page).faults == []


def test_a_long_progress_bar_is_its_last_state() -> None:
    bar = "".join(f"\r{done:6d}/50000 {'█' * (done // 1000)}" for done in range(0, 50001, 10))
    assert escape.terminal(bar) == f" 50000/50000 {'█' * 50}"


@pytest.mark.parametrize(
    "piece", ["<!--", "<a ", "<b>", "</b>", "<script>", "<a href='", "$", "$$", "\\begin{a}\n", "&", "<"]
)
def test_very_many_beginnings_without_an_end_come_to_an_end(piece: str) -> None:
    """Each is looked at once: with the square of their number, this would take minutes."""
    text = piece * (markdown.MOST_MARKDOWN // len(piece))
    assert Reader(markdown.render(text)).faults == []
    assert escape.terminal("\r" * 1_000_000 + text).startswith(escape.escape_code(piece[:1]))
    assert of_output({"text/html": text * 10})


def test_pictures_in_markdown_do_not_count() -> None:
    address = f"data:image/png;base64,{'iVBORw0K' * 50_000}"
    page = page_of(cell(f"![a]({address})\n\n<img src='{address}' alt='b'>\n\n`{address}`", "markdown"))
    assert [each["src"] for each in Reader(page).all("img")] == [address, address]
    assert f"<code>{address}</code>" in page


# ---- Comments


def test_comments_stand_after_their_cells_and_resolved_ones_are_folded() -> None:
    sheet = Sheet(cells=with_ids([cell("x = 1"), cell("y = 2")]))
    ada, codex = ActorId("human:ada"), ActorId("agent:codex")
    at, first = "2026-10-05T08:30:00.000000Z", sheet.cells[0].id
    said = {
        CommentId("c1"): Comment(by=ada, at=at, text="@codex why\n<b>1</b>?", cell=first),
        CommentId("c2"): Comment(
            by=codex, on_behalf_of=ada, at=at, text="It was 1.", cell=first, reply_to=CommentId("c1")
        ),
        CommentId("c3"): Comment(by=ada, at=at, text="Of a removed cell", cell=CellId("gone"), resolved_by=ada),
    }
    assert "why" not in html.write(sheet, "a.html")
    page = html.write(sheet, "a.html", comments=said)
    read = Reader(page)
    assert read.faults == []
    assert read.all("b")[-1] == {} and "@codex why\n<b>1</b>?" in read.text
    assert "codex (agent) for ada" in read.text and "2026-10-05 08:30 UTC" in read.text
    threads = [each for each in read.all("details") if each.get("class") == "comments"]
    assert ["open" in each for each in threads] == [True, False]
    places = [
        page.index(part)
        for part in (f'id="cell-{first}"', "2 comments", f'id="cell-{sheet.cells[1].id}"', "removed cell")
    ]
    assert places == sorted(places)
    assert "1 comment, resolved by ada" in read.text


# ---- Hostile notebooks, in a real browser


class Trap:
    """A server of one page that notes whatever else is asked of it: nothing should be."""

    def __init__(self) -> None:
        self.page = ""
        hits: list[str] = []
        trap = self

        class Answer(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path != "/page":
                    hits.append(self.path)
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(trap.page.encode() if self.path == "/page" else b"")

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.hits = hits
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def trap() -> Iterator[Trap]:
    made = Trap()
    yield made
    made.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = chromium_path()
    if chromium is None:
        pytest.skip("needs Chromium: install your system's `chromium`")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield started
        started.close()


class Seen:
    """What a page did in the browser."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.dialogs: list[str] = []
        self.errors: list[str] = []
        page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss())[1])
        page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))


def open_page(browser: Browser, trap: Trap, page: str, **options: Any) -> Seen:
    trap.page = page
    seen = Seen(browser.new_page(**options))
    seen.page.goto(f"{trap.url}/page", timeout=LOADING)  # until it is loaded, and all frames in it
    settle(seen.page)
    return seen


def settle(page: Page) -> None:
    """Give what would be fetched late its time.

    Not by waiting for "networkidle": that is as long when all goes well, and now and then comes never on a busy machine.
    """
    page.wait_for_timeout(500)


def until_hit(page: Page, trap: Trap, *paths: str) -> None:
    """Wait until all of these were asked for. By way of the page, whose dialogs are dismissed meanwhile."""
    for _ in range(LOADING // 50):
        if set(paths) <= set(trap.hits):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"{paths} are not all in {trap.hits}")


def attacks(url: str) -> list[str]:
    run = f"top.pwned=1;document.title='pwned';alert(1);fetch('{url}/fetched')"
    return [
        f"<script>{run}</script>",
        f'"><script>{run}</script>',
        f"</style></title></textarea></pre></code><script>{run}</script>",
        f"--><script>{run}</script>",
        f"]]><script>{run}</script>",
        f'"></iframe><script>{run}</script>',
        f"&quot;&gt;&lt;/iframe&gt;&lt;script&gt;{run}&lt;/script&gt;",
        f'<img src=x onerror="{run}"><img src="{url}/img"><img srcset="{url}/srcset 1x">',
        f"<svg onload=\"{run}\"><script>{run}</script><image href='{url}/image'/></svg>",
        f'<math><mtext><table><mglyph><style><img src=x onerror="{run}">',
        f'<iframe src="{url}/frame"></iframe><iframe srcdoc="<script>{run}</script>"></iframe>',
        f'<object data="{url}/object"></object><embed src="{url}/embed"><video poster="{url}/poster" src="{url}/v"></video>',
        f'<meta http-equiv="refresh" content="0;url={url}/refresh"><base href="{url}/base/">',
        f'<link rel=stylesheet href="{url}/css"><link rel=preload as=image href="{url}/preload"><link rel=preconnect href="{url}">',
        f"<style>@import '{url}/import'; body {{ background: url({url}/background) }}</style><p style=\"background:url({url}/p)\">p",
        f'<form action="{url}/form"><button autofocus onfocus="{run}">b</button></form><input autofocus onfocus="{run}">',
        f'<a href="javascript:{run}">a</a><a href=" java\tscript:{run}">b</a><a href="data:text/html,<script>{run}</script>">c</a>',
        f"[a](javascript:{run}) [b](<java\nscript:{run}>) [c](data:text/html;base64,PHNjcmlwdD4=) [d](vbscript:x)",
        f'![a]({url}/markdown.png) ![b](javascript:{run}) ![c]("onerror="{run}) <{url}/auto>',
        f'<details open ontoggle="{run}"><summary>s</summary></details><body onload="{run}">',
        f'<template><script>{run}</script></template><noscript><p title="</noscript><script>{run}</script>">',
        f'<x style="animation-name:x" onanimationstart="{run}"><marquee onstart="{run}">',
        f'\x1b]8;;javascript:{run}\x1b\\link\x1b]8;;\x1b\\ \x1b[38;2;1;2;3"onclick="{run}mx',
        f"'\"` onmouseover={run} autofocus tabindex=0 onfocus={run} ",
    ]


def hostile(url: str) -> Sheet:
    """Every attack in every place."""
    cells: list[SheetCell] = []
    for attack in attacks(url):
        svg = f'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)">{attack}</svg>'
        bundles: list[dict[str, Any]] = [
            {"text/html": attack},
            {"text/html": f"<p>seen</p>{attack}"},
            {"text/markdown": attack},
            {"text/latex": attack},
            {"text/plain": attack},
            {"image/svg+xml": svg},
            {"image/png": attack, "text/plain": attack},
            {"image/png": "iVBORw0KGgo=", "text/plain": attack},
            {"application/json": {attack: [attack]}},
            {"application/javascript": attack},
            {f"application/{attack}+json": {attack: attack}},
            {"application/vnd.jupyter.widget-view+json": {"model_id": attack}, "text/plain": attack},
            {"application/scrapbook.scrap.json+json": {"name": attack, "data": attack}},
            {f"audio/{attack}": "AAAA", f"video/{attack}": attack},
        ]
        outputs: list[Any] = [
            {
                "output_type": "display_data",
                "data": data,
                "metadata": {"image/png": {"width": attack}, "height": attack},
            }
            for data in bundles
        ]
        outputs += [stream(attack), stream(attack, "stderr"), stream(attack, attack)]
        outputs.append({"output_type": "error", "ename": attack, "evalue": attack, "traceback": [attack]})
        attached = {"a.svg": {"image/svg+xml": svg}, attack: {"image/png": attack}}
        cells += [
            cell(
                attack, name=attack, tags=(attack, "x"), outputs=outputs, metadata={"jupyter": attack, attack: attack}
            ),
            cell(f"# {attack}\n\n![a](attachment:a.svg)\n\n{attack}", "markdown", attachments=attached),
            cell(attack, "raw"),
            cell(attack, "prompt", name=attack),
            cell(attack, "sql"),
        ]
    first = attacks(url)[0]
    return Sheet(
        cells=(SheetCell(id=CellId(first), source="bad id"), *with_ids(cells)),
        metadata={"title": first, "kernelspec": {"language": first, "name": first}, "quire": {"title": first}},
    )


@pytest.mark.slow
def test_the_trap_notices_what_runs_and_what_is_fetched(browser: Browser, trap: Trap) -> None:
    """Or else the next test would prove nothing."""
    seen = open_page(browser, trap, f"<!doctype html><p>{attacks(trap.url)[0]}{attacks(trap.url)[7]}")
    assert seen.page.evaluate("window.pwned") == 1
    assert seen.dialogs
    until_hit(seen.page, trap, "/img", "/fetched")
    # Its dialogs would hold up every page that the browser shows in the same process.
    seen.page.close()


@pytest.mark.slow
def test_nothing_of_a_hostile_notebook_runs_or_is_fetched(browser: Browser, trap: Trap) -> None:
    sheet = hostile(trap.url)
    said = {
        CommentId(f"c{number}"): Comment(by=ActorId(f"agent:{attack}"), at=attack, text=attack, cell=each.id)
        for number, (attack, each) in enumerate(zip(attacks(trap.url), (sheet.cells[0], *sheet.cells), strict=False))
    }
    page = html.write(sheet, f"{attacks(trap.url)[1]}.html", comments=said)
    seen = open_page(browser, trap, page)
    assert trap.hits == []
    assert seen.dialogs == []
    assert seen.page.evaluate("window.pwned") is None
    assert "pwned" not in seen.page.title().split("<script>")[0]
    assert seen.page.evaluate("document.scripts.length") == 0
    links: list[str] = seen.page.evaluate("[...document.querySelectorAll('[href]')].map(a => a.getAttribute('href'))")
    assert [link for link in links if not sanitizer.may_link(link)] == []
    assert [error for error in seen.errors if "Content Security Policy" not in error and "sandboxed" not in error] == []
    seen.page.close()


@pytest.mark.slow
def test_clicks_and_keys_in_a_hostile_page_lead_nowhere(browser: Browser, trap: Trap) -> None:
    """Links in frames, forms in frames: what needs a hand as well."""
    data = {
        "text/html": f'<a id=a href="{trap.url}/a" ping="{trap.url}/ping">go</a><form action="{trap.url}/f"><button>b</button></form>'
    }
    output = {"output_type": "display_data", "data": data, "metadata": {}}
    seen = open_page(browser, trap, page_of(cell("x", outputs=[output])))
    inside = seen.page.frame_locator("iframe")
    inside.locator("#a").click()
    settle(seen.page)
    assert trap.hits == []
    seen.page.close()


@pytest.mark.parametrize(
    ("scheme", "width"),
    [
        ("dark", 400),
        pytest.param("light", 400, marks=pytest.mark.slow),
        pytest.param("light", 1300, marks=pytest.mark.slow),
        pytest.param("dark", 1300, marks=pytest.mark.slow),
    ],
)
def test_a_page_fits_its_window_in_light_and_dark(browser: Browser, trap: Trap, scheme: Any, width: int) -> None:
    sheet = Sheet(cells=tuple(one for name in ("tables", "errors", "long-lines", "sql") for one in cells_of(name)))
    size: Any = {"width": width, "height": 800}
    seen = open_page(browser, trap, html.write(sheet, "a.html"), color_scheme=scheme, viewport=size)
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    paper = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
    ink = seen.page.evaluate("getComputedStyle(document.body).color")
    assert (brightness(paper) > brightness(ink)) == (scheme == "light")
    assert seen.errors == []
    seen.page.close()


def cells_of(name: str) -> tuple[SheetCell, ...]:
    path = next(path for path in NOTEBOOKS if path.stem == name)
    return registry.read(text_of(path), str(path)).cells


def brightness(colour: str) -> int:
    return sum(map(int, re.findall(r"\d+", colour)[:3]))


# ---- Generated

PIECES = [
    *(
        "<",
        ">",
        '"',
        "'",
        "&",
        "`",
        "$",
        "\n",
        "\r",
        "\x1b[",
        "m",
        "]",
        "(",
        ")",
        "!",
        "[x",
        "a",
        "1",
        ";",
        "\b",
        "\ud800",
    ),
    *("<b>", "</b>", "<table>", "<td>", "<!--", "-->", "<script>", "</script>", "</div>", "<p ", "onx=", "href="),
]
texts = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


@pytest.mark.generated
@given(texts)
def test_whatever_is_cleaned_is_balanced_and_stays_as_it_is(text: str) -> None:
    cleaned = sanitizer.clean(text)
    assert Reader(cleaned).faults == []
    assert sanitizer.clean(cleaned) == cleaned


@pytest.mark.generated
@given(texts, st.sampled_from(["code", "markdown", "raw", "sql", "prompt"]))
def test_any_text_anywhere_leaves_the_page_whole(text: str, kind: CellKind) -> None:
    output = {"output_type": "display_data", "data": {"text/plain": text, "text/markdown": text}, "metadata": {}}
    page = page_of(cell(text, kind, name=text, tags=(text,), outputs=[stream(text), output]), title=text)
    read = Reader(page)
    assert read.faults == []
    assert len(read.all("section")) == 1
    assert not [name for _, attributes in read.tags for name in attributes if name.startswith("on")]
