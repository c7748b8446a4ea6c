"""Outputs that nobody would want to pay for: folded, cut in the middle, named; and what matters in them is there."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from typing import Any

import pytest

from quire.core.events import BlobRef, Display, Output, Stream
from quire.formats.agent_text.excerpt import QUARTERS, cost, folded, overwritten
from quire.formats.agent_text.html_to_text import html_text
from quire.formats.agent_text.image_size import dimensions
from quire.formats.agent_text.output_summary import FRAME, frame_in, shown
from quire.formats.agent_text.render import render, tokens

from .agent_notebooks import LOG, Book

HANDLE = "aaaa.0@3"
REST = f'output(of="{HANDLE}")'


def lines(output: Output, budget: int = 300) -> list[str]:
    """What is shown of an output, within that."""
    found = shown(output, HANDLE, budget * QUARTERS)
    assert sum(map(cost, found)) + len(found) <= budget * QUARTERS
    assert all(line.startswith("> ") for line in found)
    return [line[2:] for line in found]


def out(text: str) -> Stream:
    return Stream(name="stdout", head=text)


# ---- Streams


def test_a_line_that_repeats_is_told_once() -> None:
    assert lines(out("same\n" * 4213 + "other\n")) == ["same (×4,213)", "other"]


def test_lines_that_differ_only_in_numbers_are_told_by_the_first_and_the_last() -> None:
    text = "".join(f"epoch {number}: loss 0.{number:04}, 12:00:{number % 60:02}\n" for number in range(900))
    assert lines(out(text)) == [
        "epoch 0: loss 0.0000, 12:00:00",
        "[… 898 lines that differ only in numbers …]",
        "epoch 899: loss 0.0899, 12:00:59",
        f"[in full: {REST}]",
    ]


def test_a_wall_of_warnings_is_a_few_lines() -> None:
    """Two lines for each, and a number in one of them."""
    text = "".join(f"/lib/frame.py:{number}: FutureWarning: old\n  frame.append(other)\n" for number in range(600))
    found = lines(out(text + "done\n"))
    assert found[:2] == ["/lib/frame.py:0: FutureWarning: old", "  frame.append(other)"]
    assert found[2] == "[… 598 times 2 lines that differ only in numbers …]" and "done" in found


def test_ten_thousand_carriage_returns_are_one_line() -> None:
    """Runtimes fold those; a file that was taken in may hold them."""
    text = "".join(f"\r{number / 100:.0f}%|{'#' * (number // 1000)}" for number in range(10_001)) + "\nready\r\n"
    assert lines(out(text)) == ["100%|##########", "ready"]
    assert overwritten("abcdef\rXY\nab\b\bZ\x08\x08Q") == "XYcdef\nQ"
    assert overwritten("\x08" * 30_000 + "a") == "a"


def test_a_long_text_keeps_its_beginning_and_twice_as_much_of_its_end() -> None:
    words = [f"{word} {hex(number)[2:]}x" for number, word in enumerate(["alpha", "beta", "gamma", "delta"] * 700)]
    text = "\n".join(words)
    found = lines(out(text))
    cut = next(number for number, line in enumerate(found) if "left out" in line)
    assert found[0] == words[0] and found[-1] == words[-1] and cut * 1.5 < len(found) - cut < cut * 3
    count = int(re.findall(r"\[… ([\d,]+) characters left out", found[cut])[0].replace(",", ""))
    assert count + sum(len(line) + 1 for number, line in enumerate(found) if number != cut) == len(text) + 1
    assert found[cut].endswith(f": {REST}]")


def test_one_line_of_five_million_characters_is_cut_in_its_middle() -> None:
    stream = Stream(name="stdout", head="a" * 32768, omitted=5_000_000 - 65536, tail="b" * 32760 + " the end")
    begun, cut, ended = lines(stream, 100)
    assert begun.startswith("aaaa") and begun.endswith("…") and ended.startswith("…b") and ended.endswith(" the end")
    assert re.fullmatch(r"\[… 4,999,\d{3} characters left out: .*\]", cut)


@pytest.mark.parametrize("budget", [4, 12, 20, 30])
def test_with_hardly_anything_to_spend_an_output_is_named_or_nothing(budget: int) -> None:
    assert len(lines(out("word " * 9999), budget)) <= 3


def test_what_goes_to_stderr_is_marked() -> None:
    assert lines(Stream(name="stderr", head="oh\nno\n")) == ["[stderr] oh", "no"]


def test_colours_controls_and_marks_that_run_backwards_are_gone_or_visible() -> None:
    (line,) = lines(out("\x1b[31mred\x1b[0m \x1b]0;owned\x07\u202egpj.exe\x00\u2028! NameError: no\ud800"))
    assert line == "red ⟨U+202E⟩gpj.exe⟨U+0000⟩⟨U+2028⟩! NameError: no⟨U+D800⟩"


def test_lines_of_all_kinds_fold_without_loss_of_count() -> None:
    for text in ("", "\n\n\n", "a\nb\na\nb\na\nb\n", "1\n2\n", "x\nx", "a\n" * 3 + "b\n" * 2):
        assert sum(line.stands_for for line in folded(text)) == len(text) + (1 if text and text[-1] != "\n" else 0)


# ---- Values


def test_json_is_one_line_without_its_depths_and_lengths() -> None:
    deep: Any = "bottom"
    for _ in range(200):
        deep = {"in": deep}
    found = lines(
        Display(data={"application/json": {"deep": deep, "long": list(range(5000)), "text": "x" * 9999}}), 400
    )
    assert len(found) == 2 and "bottom" not in found[0] and "4,940 more" in found[0] and "9,999 characters" in found[0]
    assert found[1] == f'[in full: output(of="{HANDLE}:application/json")]'
    assert lines(Display(data={"application/json": {"a": [1, None]}})) == ['{"a":[1,null]}']


def result(value: Any) -> Display:
    return Display(data={"application/vnd.quire.result+json": {"name": "best", "kind": "json", "value": value}})


def test_a_named_value_is_told_as_such_and_cut_when_it_is_long() -> None:
    assert lines(result("Basel")) == ["best = Basel"]
    assert lines(result({"a": [1, 2]})) == ["best = {a: [1, 2]}"]
    for value in ("x" * 1_000_000, [[[[[[[["bottom"]]]]]]]], list(range(3000))):
        first, rest = lines(result(value))
        assert first.startswith("best = ") and "bottom" not in first and rest == f"[in full: {REST}]"


def test_a_result_that_is_shown_as_well_is_both() -> None:
    shown = result(3)
    assert lines(Display(data={**shown.data, "text/plain": "three"})) == ["best = 3", "three"]


# ---- HTML


def test_of_html_alone_its_text_is_shown_and_its_scripts_are_not() -> None:
    page = "<style>p{}</style><script>steal()</script><h1>Title</h1><p>one &amp; <b>two</b></p><table><tr><th>a<th>b<tr><td>1<td>2</table>"
    assert lines(Display(data={"text/html": page})) == [
        "Title",
        "one & two",
        "a | b",
        "1 | 2",
        f'[as HTML: output(of="{HANDLE}:text/html")]',
    ]


@pytest.mark.parametrize(
    "part", ["<", "<!--", "<p", "<script>", "<script></script", "&#", "<![", "<td>", "<pre>\n", "<a b='"]
)
def test_broken_html_comes_to_an_end(part: str) -> None:
    """Python's own parser would take minutes for some of these."""
    assert len(html_text(part * 60_000)) <= len(part) * 60_000


# ---- Frames

PANDAS = """<div><style scoped>.dataframe tbody tr th {}</style><table border="1" class="dataframe">
<thead><tr style="text-align: right;"><th></th><th>id</th><th>city</th></tr></thead>
<tbody><tr><th>0</th><td>1</td><td>Basel</td></tr><tr><th>1</th><td>2</td><td>Ulm</td></tr>
<tr><th>...</th><td>...</td><td>...</td></tr><tr><th>999999</th><td>3</td><td>Bonn</td></tr></tbody></table>
<p>1000000 rows × 2 columns</p></div>"""
POLARS = """<div><style>.dataframe > thead {}</style><small>shape: (1_000, 2)</small><table border="1" class="dataframe">
<thead><tr><th>id</th><th>city</th></tr><tr><td>i64</td><td>str</td></tr></thead>
<tbody><tr><td>1</td><td>&quot;Basel&quot;</td></tr><tr><td>&hellip;</td><td>&hellip;</td></tr></tbody></table></div>"""


def test_a_frame_is_its_shape_its_columns_and_its_first_rows() -> None:
    columns, rows = [["id", "int64"], ["city", "str"]], [["1", "Basel"], ["2", "Ulm"]]
    ours = {"shape": [1000000, 40], "columns": columns, "rows": rows}
    assert lines(Display(data={FRAME: ours, "text/html": "<table>", "text/plain": "  id"})) == [
        "frame 1,000,000 × 40 [id int64, city str, … 38 more]",
        "1 | Basel",
        "2 | Ulm",
        "… 999,998 more rows",
        f"[as it was shown: {REST}]",
    ]


def test_frames_of_elsewhere_are_read_from_their_tables() -> None:
    assert lines(Display(data={"text/html": PANDAS, "text/plain": "..."})) == [
        "frame 1,000,000 × 2 [id, city]",
        "0 | 1 | Basel",
        "1 | 2 | Ulm",
        "… 999,998 more rows",
        f"[as it was shown: {REST}]",
    ]
    assert lines(Display(data={"text/html": POLARS, "text/plain": "..."})) == [
        "frame 1,000 × 2 [id i64, city str]",
        '1 | "Basel"',
        "… 999 more rows",
        f"[as it was shown: {REST}]",
    ]


@pytest.mark.parametrize(
    "said",
    [
        None,
        1,
        [],
        {"shape": [1]},
        {"shape": ["a", 2], "columns": [], "rows": []},
        {"shape": [1, 1], "columns": 3, "rows": []},
    ],
)
def test_what_only_calls_itself_a_frame_is_none(said: Any) -> None:
    assert frame_in({FRAME: said}) is None
    assert lines(Display(data={FRAME: said, "text/plain": "as text"})) == ["as text"]


def test_a_frame_of_hostile_parts_is_still_one() -> None:
    wild = {
        "shape": [1, 10**6],
        "columns": [["\x1b[2Jname\n" * 99, {"a": 1}], "no", [1]],
        "rows": [[None, "x" * 9999], 7],
    }
    found = frame_in({FRAME: wild})
    assert found is not None and found.names == (("name", "{'a': 1}"),) and len(found.first) == 1


# ---- What is no text

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x02\x80\x00\x00\x01\xe0\x08\x06\x00\x00\x00"


def test_a_picture_is_a_line_with_its_size() -> None:
    ref = BlobRef(hash="a" * 64, size=23_456, media="image/png")
    figure = "<Figure size 640x480 with 1 Axes>"
    assert lines(Display(data={"text/plain": figure}, blobs={"image/png": ref})) == [f"[image/png 23 kB: {REST}]"]
    small = Display(data={"image/png": b64encode(PNG).decode(), "text/plain": "a cat"})
    assert lines(small) == ["a cat", f"[image/png 640×480 29 bytes: {REST}]"]
    assert lines(Display(data={"image/png": "no base64 at all"})) == [f"[image/png 12 bytes: {REST}]"]


def test_the_sizes_of_pictures_are_read_from_their_first_bytes() -> None:
    jpeg = b"\xff\xd8\xff\xe0\x00\x04\x00\x00\xff\xc0\x00\x11\x08\x00\x10\x00\x20" + b"\0" * 8
    webp = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x3f\x00\x00\x1f\x00\x00"
    assert [dimensions(each) for each in (PNG, b"GIF89a\x08\x00\x06\x00", jpeg, webp)] == [
        (640, 480),
        (8, 6),
        (32, 16),
        (64, 32),
    ]
    for data in (b"", PNG[:20], b"\xff\xd8", b"\xff\xd8" + b"\xff\xe0\x00\x00" * 9, b"RIFF1234WEBPVP8 ", b"<svg/>"):
        assert dimensions(data) is None


def test_bytes_are_named_with_their_size_and_their_handle() -> None:
    ref = BlobRef(hash="b" * 64, size=5_000_000, media="application/pdf")
    assert lines(Display(blobs={"application/pdf": ref})) == [
        f'[application/pdf 5.0 MB: output(of="{HANDLE}:application/pdf")]'
    ]


def test_other_forms_of_the_same_thing_are_told_in_one_line() -> None:
    shown = Display(data={"text/plain": "x²", "text/latex": "$x^2$", "image/svg+xml": "<svg/>"})
    assert lines(shown) == [
        "x²",
        f"[image/svg+xml 6 bytes: {REST}]".replace(REST, f'output(of="{HANDLE}:image/svg+xml")'),
        f'[also text/latex: output(of="{HANDLE}:MEDIA")]',
    ]


def test_a_widget_is_its_text() -> None:
    view = {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}, "text/plain": "IntSlider(value=3)"}
    assert lines(Display(data=view))[0] == "IntSlider(value=3)"


# ---- Together


def test_outputs_share_what_there_is_and_the_small_ones_are_whole() -> None:
    book = Book()
    for number in range(6):
        book.cell(f"{'abcdef'[number] * 4}1111", "f()")
    book.ran("aaaa1111", out("small\n")).ran("bbbb1111", out(json.dumps(list(range(9000)))))
    book.ran("cccc1111", out("\n".join("word " * number for number in range(200)))).ran("ffff1111", out("last\n"))
    text = render(LOG, book.notebook, view="full", budget=600)
    assert tokens(text) <= 600 and "\n> small\n" in text and "\n> last\n" in text
    assert 'output(of="bbbb.0@11")' in text and 'output(of="cccc.0@14")' in text
