"""What cells show: each kind of output in its place, streams while they run, tables, errors, frames."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from .app import App
from .axe import serious
from .editor_actions import until_true
from .node import needs_packages
from .notebook import Book
from .output_cells import display, frame_of, html, imported, outputs_of, printed, raised, shown_as

pytestmark = needs_packages

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
CHART: dict[str, Any] = {
    "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
    "data": {"values": [{"a": "A", "b": 3}, {"a": "B", "b": 5}]},
    "mark": "bar",
    "encoding": {"x": {"field": "a"}, "y": {"field": "b", "type": "quantitative"}},
}
FIGURE: dict[str, Any] = {
    "data": [{"type": "scatter", "y": [1, 3, 2]}],
    "layout": {"title": {"text": "Sales by month"}},
}
MARKDOWN = """# A heading

- one
- $e^{i\\pi}$ [there](https://example.org)

![far](https://example.org/p.png)<img src=x onerror=alert(1)>
"""
TRACEBACK = [
    "\x1b[31mKeyError\x1b[39m   Traceback (most recent call last)",
    "\x1b[36mCell\x1b[39m\x1b[36m \x1b[39m\x1b[32mIn[1]\x1b[39m\x1b[32m, line 1\x1b[39m\n\x1b[32m----> 1\x1b[39m show(0)",
    "File \x1b[32m~/.venv/lib/python3.11/site-packages/pandas/frame.py:10\x1b[39m, in get(key)\n---> 10 raise KeyError(key)",
    "\x1b[31mKeyError\x1b[39m: 'region'",
]
FOUND = "[...CSS.highlights.get('quire-found') ?? []].map(String)"
MARKED = "[...CSS.highlights.get('quire-find') ?? []].map(String)"
WIDGET = "application/vnd.jupyter.widget-view+json"
WIDGETS: dict[str, Any] = {
    "application/vnd.jupyter.widget-state+json": {
        "state": {
            "m1": {"model_name": "IntSliderModel", "state": {"description": "months", "value": 7, "min": 0, "max": 10}}
        }
    }
}


def rows(count: int) -> str:
    """A data frame as pandas shows one."""
    body = "".join(f"<tr><th>{n}</th><td>name {n}</td><td>{n * 37 % 101}</td></tr>" for n in range(count))
    style = "<style scoped>.dataframe tbody tr th { vertical-align: top; }</style>"
    head = "<thead><tr style='text-align: right;'><th></th><th>name</th><th>value</th></tr></thead>"
    return f'<div>{style}<table border="1" class="dataframe">{head}<tbody>{body}</tbody></table><p>{count} rows × 2 columns</p></div>'


# ---- Drawn by the page


def test_texts_pictures_and_values_are_drawn_by_the_page(app: App, page: Page) -> None:
    result = {
        "application/vnd.quire.result+json": {"name": "total", "kind": "json", "value": {"$int": "9007199254740993"}}
    }
    log = imported(
        app,
        "page",
        printed("\x1b[31mred\x1b[0m \x1b]8;;https://example.org/docs\x07docs\x1b]8;;\x07\n10%\r\u202e99%\n")
        + printed("careful\n", "stderr"),
        shown_as("image/png", PNG),
        shown_as("application/json", {"a": [1, {"deep": None}], "b": "text"}),
        shown_as("text/markdown", MARKDOWN),
        shown_as("text/latex", r"$\displaystyle \frac{1}{2}$")
        + shown_as("text/latex", "\\begin{equation}\nx^2\n\\end{equation}")
        + shown_as("text/latex", r"\begin{tabular}{l} a \end{tabular}")
        + shown_as("text/latex", r"$\unknown$"),
        [{"output_type": "display_data", "metadata": {}, "data": result}],
        shown_as(
            "image/svg+xml",
            '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><rect width="40" height="20"/></svg>',
        ),
        display(text_plain="array([1, 2])"),
    )
    app.open(page, log)
    streams = outputs_of(page, 0)
    expect(streams.locator("pre").first).to_have_text("red docs https://example.org/docs\n⟨U+202E⟩99%")
    expect(streams.get_by_role("link")).to_have_attribute("href", "https://example.org/docs")
    expect(streams.get_by_label("stderr")).to_contain_text("careful")
    picture = outputs_of(page, 1).locator("img")
    expect(picture).to_have_js_property("naturalWidth", 1)
    expect(picture).to_have_attribute("src", re.compile("^blob:"))
    json = outputs_of(page, 2)
    expect(json.locator("summary")).to_have_count(2)
    json.get_by_text("2 items").click()
    json.get_by_text("1 key").click()
    expect(json).to_contain_text("deep: null")
    prose = outputs_of(page, 3)
    expect(prose.get_by_role("heading")).to_have_text("A heading")
    expect(prose.locator(".katex")).to_have_count(1)
    expect(prose.get_by_role("link", name="there")).to_have_attribute("rel", "noopener noreferrer")
    expect(prose.locator("img")).to_have_count(0)
    expect(prose.get_by_role("link", name="far")).to_have_attribute("href", "https://example.org/p.png")
    latex = outputs_of(page, 4)
    expect(latex.locator(".katex")).to_have_count(2)
    expect(latex.locator("pre")).to_have_text([r"\begin{tabular}{l} a \end{tabular}", r"$\unknown$"])
    expect(latex.get_by_text("LaTeX source: only formulas are typeset here.")).to_have_count(2)
    expect(outputs_of(page, 5)).to_contain_text("9007199254740993")
    expect(outputs_of(page, 6).locator("img")).to_have_js_property("naturalWidth", 40)
    expect(outputs_of(page, 7)).to_contain_text("array([1, 2])")
    expect(page.locator("iframe")).to_have_count(0)


def test_a_table_is_sorted_and_paged(app: App, page: Page) -> None:
    app.open(page, imported(app, "table", html(rows(60))))
    table = outputs_of(page, 0)
    body = table.locator("tbody tr")
    expect(body).to_have_count(25)
    expect(table).to_contain_text("60 rows × 2 columns")
    table.get_by_role("button", name="value").click()
    expect(table.get_by_role("columnheader", name="value")).to_have_attribute("aria-sort", "ascending")
    expect(body.first).to_have_text("0name 00")
    table.get_by_role("button", name="value").click()
    expect(body.first).to_have_text("30name 30100")
    table.get_by_role("button", name="Next").click()
    expect(table).to_contain_text("Rows 26 to 50 of 60")
    table.get_by_role("button", name="value").click()
    expect(body.first).to_have_text("0name 00")
    expect(table.get_by_role("columnheader", name="value")).to_have_attribute("aria-sort", "none")


def test_an_error_says_first_what_was_raised_and_leads_to_its_line(app: App, page: Page) -> None:
    app.open(page, imported(app, "error", raised("KeyError", "'region'", TRACEBACK)))
    error = outputs_of(page, 0).get_by_label("Error: KeyError: 'region'")
    expect(error.locator("p").first).to_have_text("KeyError: 'region'")
    expect(error.locator("pre")).to_have_count(1)
    expect(error.locator("pre")).to_contain_text("show(0)")
    error.get_by_text("1 frame of a library").click()
    expect(error).to_contain_text("pandas/frame.py:10")
    error.get_by_role("button", name="Line 1").click()
    expect(page.locator("[data-cell]").first).to_have_attribute("data-focused", "true")


def test_a_widget_shows_what_it_was(app: App, page: Page) -> None:
    saved = [
        {
            "output_type": "display_data",
            "metadata": {},
            "data": {WIDGET: {"model_id": "m1"}, "text/plain": "IntSlider(value=7)"},
        }
    ]
    app.open(page, imported(app, "widget", saved, metadata={"widgets": WIDGETS}))
    expect(outputs_of(page, 0)).to_contain_text("not live")
    expect(outputs_of(page, 0)).to_contain_text("7")


# ---- Streams


def test_a_stream_follows_its_last_lines_then_shows_both_ends(app: App, page: Page, tmp_path: Path) -> None:
    code = f"""
import os, time
for n in range(20_000): print("line", n)
while not os.path.exists({str(tmp_path / "go")!r}): time.sleep(0.02)
print("the end")
"""
    book = Book.of(app, page, code)
    book.go(0)
    book.press("Control+Enter")
    running = book.outputs(0).locator("pre")
    # How many there are by then depends on the kernel: a long text is sent again once it has grown by half.
    expect(running).to_contain_text(re.compile(r"line \d{4}"))
    last = [int(line.removeprefix("line ")) for line in running.inner_text().splitlines()[:-1]]
    assert len(last) in (11, 12) and last == list(range(last[0], last[0] + len(last)))
    (tmp_path / "go").touch()
    book.has_state(0, "ok")
    shown = book.outputs(0)
    expect(shown.locator("pre").first).to_have_text("\n".join(f"line {n}" for n in range(20)))
    expect(shown.locator("pre").last).to_contain_text("the end")
    # All of it is in a blob, which is short enough to be counted unasked.
    expect(shown).to_contain_text("20,001 lines")
    expect(shown).to_contain_text("19,961 more lines")
    with page.expect_download() as downloaded:
        shown.get_by_role("button", name="Download").click()
    text = downloaded.value.path().read_text()
    assert text == "".join(f"line {n}\n" for n in range(20_000)) + "the end\n"
    shown.get_by_role("button", name="Search").click()
    page.keyboard.type("line 1234")
    expect(shown.get_by_role("searchbox")).to_have_value("line 1234")
    expect(shown).to_contain_text("1 of 11")
    expect(shown.get_by_text(re.compile("^Lines 1 to 2,000 of 20,001"))).to_be_visible()
    page.keyboard.press("Enter")
    expect(shown).to_contain_text("Lines 12,001 to 14,000 of 20,001")
    assert page.evaluate(FOUND) == ["line 1234"]
    shown.get_by_role("button", name="Show less").click()
    expect(shown.locator("pre").first).to_have_text("\n".join(f"line {n}" for n in range(20)))
    # The panel finds it too, and opens the output where it is.
    book.press("Escape", "Control+f")
    panel = page.get_by_role("search", name="Find in this notebook")
    panel.get_by_role("textbox", name="Find").fill("line 12345")
    expect(panel.get_by_role("status")).to_have_text("1 found")
    panel.get_by_role("textbox", name="Find").press("Enter")
    expect(shown).to_contain_text("Lines 12,001 to 14,000 of 20,001")
    until_true(lambda: page.evaluate(FOUND) == ["line 12345"], lambda: page.evaluate(FOUND))


def test_outputs_that_were_cut_are_found_and_what_cannot_be_read_is_said(app: App, page: Page) -> None:
    plain = [display(text_plain=f"{'x' * 30_000}\nneedle {n}") for n in range(2)]
    log = imported(app, "cut", *plain, *[printed("".join(f"{n}\n" for n in range(45)))] * 6, plain[1])
    page.route("**/executions/*", lambda route: route.abort())
    app.open(page, log)
    page.keyboard.press("Control+f")
    panel = page.get_by_role("search", name="Find in this notebook")
    field = panel.get_by_role("textbox", name="Find")
    field.fill("needle")
    expect(panel).to_contain_text("3 long outputs could not be searched:")
    expect(panel.get_by_role("status")).to_have_text("Nothing found")
    page.unroute("**/executions/*")
    panel.get_by_role("button", name="Try again").click()
    expect(panel.get_by_role("status")).to_have_text("3 found")
    expect(panel).not_to_contain_text("long outputs")
    field.press("Shift+Enter")
    expect(outputs_of(page, 8)).to_be_in_viewport()
    until_true(lambda: page.evaluate(MARKED) == ["needle"], lambda: page.evaluate(MARKED))


# ---- Frames


def test_charts_and_pages_are_drawn_in_frames(app: App, page: Page) -> None:
    log = imported(
        app,
        "frames",
        shown_as("application/vnd.vegalite.v5+json", CHART),
        shown_as("application/vnd.plotly.v1+json", FIGURE),
        html("<b>count</b> <button onclick='this.textContent = Number(this.textContent) + 1'>0</button>"),
        shown_as("application/javascript", "element.textContent = 'made by a script'"),
        shown_as("audio/wav", base64.b64encode(b"RIFF").decode()),
        html("<script src='https://cdn.example.org/x.js'></script><a href='https://example.org/far'>away</a>"),
    )
    app.open(page, log)
    expect(frame_of(page, 0).locator("svg .mark-rect path")).to_have_count(2)
    expect(frame_of(page, 1).locator(".gtitle")).to_have_text("Sales by month")
    counter = frame_of(page, 2).get_by_role("button")
    counter.click()
    counter.click()
    expect(counter).to_have_text("2")
    expect(frame_of(page, 3).locator("body")).to_have_text("made by a script")
    expect(frame_of(page, 4).locator("audio")).to_have_count(1)
    asking = outputs_of(page, 5)
    expect(asking).to_contain_text("wanted cdn.example.org")
    frame_of(page, 5).get_by_role("link", name="away").click()
    expect(asking.get_by_role("link", name="https://example.org/far")).to_be_visible()
    asking.get_by_role("button", name="Allow for me in this notebook").click()
    frames = [outputs_of(page, number).locator("iframe") for number in (2, 5)]
    for frame in frames:
        expect(frame).to_have_attribute("src", "/frame?hosts=cdn.example.org")
    # It is withdrawn at any output of the notebook, and for all of them. By keys: frames that are drawn anew move
    # what is below them.
    outputs_of(page, 2).get_by_role("button", name="Withdraw cdn.example.org").press("Enter")
    for frame in frames:
        expect(frame).to_have_attribute("src", "/frame")
    expect(page.get_by_role("button", name="Withdraw")).to_have_count(0)
    asking.get_by_role("button", name="Allow for me in this notebook").press("Enter")
    for frame in frames:
        expect(frame).to_have_attribute("src", "/frame?hosts=cdn.example.org")
    # On the page of settings too: in another window, at once.
    settings = page.context.new_page()
    settings.goto(f"{app.url}/settings")
    hosts = settings.get_by_role("region", name="Hosts of outputs")
    expect(hosts.get_by_role("link", name="frames")).to_have_attribute("href", f"/notebooks/{log}")
    assert serious(settings) == []
    hosts.get_by_role("listitem").filter(has_text="cdn.example.org").get_by_role("button", name="Withdraw").click()
    expect(hosts.get_by_role("listitem")).to_have_count(0)
    for frame in frames:
        expect(frame).to_have_attribute("src", "/frame")
    settings.close()


def test_a_cell_that_moves_or_goes_away_keeps_what_its_frame_has(app: App, page: Page) -> None:
    counting = "<button onclick='this.textContent = Number(this.textContent) + 1'>0</button>"
    tall = printed("".join(f"{n}\n" for n in range(45)))
    log = imported(app, "moves", html(counting), *[tall] * 6)
    book = Book(app, page, log)
    button = page.frame_locator("iframe").get_by_role("button")
    button.click()
    expect(button).to_have_text("1")
    book.go(0)
    book.press("Alt+ArrowDown", "Alt+ArrowDown")
    expect(book.cell(2).locator("iframe")).to_have_count(1)
    expect(button).to_have_text("1")
    page.locator("[data-cell]").last.scroll_into_view_if_needed()
    page.locator("[data-cell]").first.scroll_into_view_if_needed()
    expect(button).to_have_text("1")
    book.press("d", "d")
    expect(page.locator("[data-cell] iframe")).to_have_count(0)
    book.press("z")
    expect(page.locator("[data-cell] iframe")).to_have_count(1)
    expect(button).to_have_text("1")


@pytest.mark.slow
def test_a_cell_that_moves_into_another_section_keeps_its_frame(app: App, page: Page) -> None:
    """Long notebooks are drawn in sections: there React makes the row anew."""
    counting = "<button onclick='this.textContent = Number(this.textContent) + 1'>0</button>"
    book = Book(app, page, imported(app, "far", html(counting), *[printed("short\n")] * 150))
    button = page.frame_locator("iframe").get_by_role("button")
    button.click()
    expect(button).to_have_text("1")
    book.go(0)
    section = "[...document.querySelectorAll('[data-cells] > *')].findIndex((each) => each.contains(document.querySelector('iframe')))"
    for _ in range(140):
        book.press("Alt+ArrowDown")
        if page.evaluate(section) > 0:
            break
    assert page.evaluate(section) > 0
    expect(book.focused.locator("iframe")).to_have_count(1)
    expect(button).to_have_text("1")


def focused_tag(page: Page) -> str:
    """What has the focus."""
    return page.evaluate("document.activeElement.tagName")


@pytest.mark.slow
def test_a_wheel_turns_the_page_until_the_output_is_clicked(app: App, page: Page) -> None:
    inner = "<div id=box style='height: 200px; overflow: auto'><div style='height: 3000px'>long</div></div>"
    app.open(page, imported(app, "wheel", html(inner), *[printed("\n" * 40)] * 4))
    box = frame_of(page, 0).locator("#box")
    expect(box).to_be_visible()
    outputs_of(page, 0).locator("iframe").hover()
    hint = outputs_of(page, 0).get_by_text("Click into it to scroll")
    # The browser turns the page for a moment after the pointer came to the frame, whatever is in it.
    for turn in range(600):
        page.mouse.wheel(0, -4 if turn % 2 else 4)
        page.evaluate("() => new Promise(requestAnimationFrame)")
        if hint.count():
            break
    expect(hint).to_be_visible()
    assert box.evaluate("box => box.scrollTop") == 0
    page.mouse.down()
    page.mouse.up()
    page.mouse.wheel(0, 90)
    until_true(lambda: focused_tag(page) == "IFRAME", lambda: focused_tag(page))
    expect(box).not_to_have_js_property("scrollTop", 0)
    page.keyboard.press("Escape")
    until_true(lambda: focused_tag(page) != "IFRAME", lambda: focused_tag(page))


@pytest.mark.slow
def test_many_frames_do_not_live_at_once_and_come_back(app: App, page: Page) -> None:
    log = imported(app, "many", *[html(f"<div style='height: 900px'>frame {n}</div>") for n in range(60)])
    app.open(page, log)
    cells = page.locator("[data-cell]")
    for number in range(0, 60, 2):
        cells.nth(number).scroll_into_view_if_needed()
        expect(frame_of(page, number).locator("div")).to_have_text(f"frame {number}")
    expect(cells).to_have_count(60)
    assert page.locator("iframe").count() <= 50
    cells.first.scroll_into_view_if_needed()
    expect(frame_of(page, 0).locator("div")).to_have_text("frame 0")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_outputs(app: App, page: Page, scheme: Any) -> None:
    page.emulate_media(color_scheme=scheme)
    colours = "".join(
        f"\x1b[{code}mcolour {code}\x1b[0m \x1b[{code + 10}mon {code}\x1b[0m\n"
        for code in (*range(30, 38), *range(90, 98))
    )
    log = imported(
        app,
        f"axe {scheme}",
        printed(colours) + printed("careful\n", "stderr") + printed("".join(f"{n}\n" for n in range(99))),
        html(rows(60)),
        raised("KeyError", "'region'", TRACEBACK),
        shown_as("application/json", {"a": [1, {"deep": None}], "b": "text"}),
        shown_as("text/markdown", MARKDOWN),
        shown_as("image/png", PNG),
        html("<p>one</p><script src='https://cdn.example.org/x.js'></script>"),
        html("<p>two</p><a href='https://example.org'>link</a>"),
    )
    app.open(page, log)
    page.locator("[data-cell]").last.scroll_into_view_if_needed()
    expect(outputs_of(page, 6)).to_contain_text("wanted cdn.example.org")
    expect(frame_of(page, 7).locator("p")).to_have_text("two")
    assert serious(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_frame_is_as_light_or_dark_as_its_page(app: App, page: Page, scheme: Any) -> None:
    page.emulate_media(color_scheme=scheme)
    app.open(page, imported(app, f"colours {scheme}", html("<p>text</p>")))
    expect(frame_of(page, 0).locator("html")).to_have_css("color-scheme", scheme)
    other: Any = "dark" if scheme == "light" else "light"
    page.emulate_media(color_scheme=other)
    expect(frame_of(page, 0).locator("html")).to_have_css("color-scheme", other)
