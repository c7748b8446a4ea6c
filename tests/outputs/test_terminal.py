"""A stream reads as a terminal would show it (rule 7), however it is cut into pieces."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.outputs.terminal import MOST, REACH, Terminal

RECORDINGS = Path(__file__).with_name("recordings")
UP, DOWN, LEFT, RIGHT, ERASE = "\x1b[A", "\x1b[B", "\x1b[D", "\x1b[C", "\x1b[K"
RED, BOLD, OFF = "\x1b[31m", "\x1b[1m", "\x1b[0m"


def folded(*pieces: str) -> str:
    """What is on the screen after these pieces, put together from what each of them changed."""
    terminal = Terminal()
    text = ""
    for piece in pieces:
        change = terminal.feed(piece)
        if change is not None:
            offset, new = change
            assert offset <= len(text)
            text = text[:offset] + new
        assert len(text) == terminal.length
        assert terminal.finished <= len(text)
    return text


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("", ""),
        ("a\nb", "a\nb"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("a\r\r\nb", "a\nb"),
        ("\n\n\r\n", "\n\n\n"),
        ("100%\r 50%", " 50%"),
        ("abc\rX", "Xbc"),
        ("abc\rX\nd", "Xbc\nd"),
        ("abc\r", "abc"),
        ("|\b/\b-\bok", "ok"),
        ("abc\b\bX", "aX"),
        ("abc\b \b", "ab"),
        ("\b\ba", "a"),
        ("a\n\bb", "a\nb"),
        ("é🦊\b\rX", "X"),
        (f"a\nb\r{UP}X", "X\nb"),
        (f"a\nb{UP}X", "aX\nb"),
        (f"a\nb\n\n{UP}{UP}{UP}{UP}X", "X\nb\n\n"),
        (f"a\n{DOWN}{DOWN}b", "a\nb"),
        ("a\nb\x1b[2FX", "X\nb"),
        ("a\nb\x1b[F\x1b[EX", "a\nX"),
        (f"abc{LEFT}{LEFT}X", "aXc"),
        (f"abc\r{RIGHT}X", "aXc"),
        ("a\x1b[3Cb", "a   b"),
        ("abc\x1b[2GX", "aXc"),
        (f"abc\r{ERASE}d", "d"),
        ("abc\x1b[2Kd", "   d"),
        ("abc\x1b[2D\x1b[1Kd", " dc"),
        ("a\nb\nc\x1b[2A\r\x1b[Jd", "d"),
        ("old\x1b[H\x1b[2J\x1b[3Jnew", "oldnew"),
        ("\x1b[?25lx\x1b[?25h", "x"),
        ("\x1b]0;title\x07x\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\", "xlink"),
        ("\x1b7a\x1b8\x1b(Bb\x1b=c", "abc"),
        ("\x1bPq#0\x1b\\x", "x"),
        ("\x1b]1337;" + "x" * 3000 + "\x07a", "a"),
        ("\x1b]1337;" + "x" * 5000 + "\x07a", "1337;" + "x" * 5000 + "\x07a"),
        ("\x1b[" + "1" * 300 + "ma", "[" + "1" * 300 + "ma"),
        ("a\x1b", "a"),
        ("a\x1b[12", "a"),
        ("\tx\0\x07\x0c", "\tx\0\x07\x0c"),
        ("x\x1b[9999999999999999999999999999Ay", "xy"),
    ],
)
def test_what_moves_the_cursor_moves_it(printed: str, shown: str) -> None:
    assert folded(printed) == shown
    assert folded(*printed) == shown


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        (f"{RED}red\x1b[39m plain\n", f"{RED}red\x1b[39m plain\n"),
        (f"{RED}two\nlines{OFF}", f"{RED}two\nlines{OFF}"),
        (f"grep{OFF}{ERASE}: x\n", f"grep{OFF}: x\n"),
        (f"{RED}abc{OFF}\rX", f"X{RED}bc{OFF}"),
        (f"abc\r{RED}X", f"{RED}X{OFF}bc{RED}"),
        (f"abc\r{RED}X{OFF}", f"{RED}X{OFF}bc"),
        (f"abc\r{RED}{BOLD}X{OFF}\n", "\x1b[31;1mX\x1b[0mbc\n"),
        (f"{RED}ab{OFF}\b", f"{RED}a{OFF}"),
        (f"a\n{RED}b{UP}\rX{OFF}\nc", f"{RED}X{OFF}\nc"),
        ("\x1b[38;5;9mab\r\x1b[38;2;1;2;3mX", "\x1b[38;2;1;2;3mX\x1b[0m\x1b[38;5;9mb\x1b[0m\x1b[38;2;1;2;3m"),
        ("a\r\x1b[777;38;5mb\x1b[m", "\x1b[38;5;0mb\x1b[0m"),
    ],
)
def test_colours_take_no_room_and_stay_with_their_characters(printed: str, shown: str) -> None:
    assert folded(printed) == shown
    assert folded(*printed) == shown


def test_a_line_that_is_recoloured_for_ever_stays_small() -> None:
    text = folded(*(f"\r\x1b[{30 + number % 8};{40 + number % 8}mstep" for number in range(1000)))
    assert len(text) < 100


def said(name: str, stream: str) -> list[str]:
    messages: list[dict[str, Any]] = json.loads((RECORDINGS / f"{name}.json").read_text())["messages"]
    contents = [message["content"] for message in messages if message["type"] == "stream"]
    return [content["text"] for content in contents if content["name"] == stream]


@pytest.mark.parametrize(
    ("name", "stream", "lines"),
    [
        ("tqdm", "stderr", [r"100%\|#+\| 5/5 \[.*\]", ""]),
        ("tqdm-nested", "stderr", [r"outer: 100%\|#\| 2/2 .*", r" {40}"]),
        ("tqdm-two-bars", "stderr", [r"a: 100%\|#\| 3/3 .*", r"b: 100%\|#\| 3/3 .*", ""]),
        ("rich-live", "stdout", [r".*step .*3.*", r"row .*3.*", r".*over.*", ""]),
        ("rich-progress", "stdout", [r"one .*━+.*100%.*", r"two .*━+.*100%.*", ""]),
        ("backspace", "stdout", ["ok", ""]),
        ("shell", "stdout", ["one", "two", "oops", ""]),
    ],
)
def test_progress_bars_as_people_use_them_end_as_one_line_each(name: str, stream: str, lines: list[str]) -> None:
    texts = said(name, stream)
    assert len(texts) > 1 or name == "shell"
    shown = folded(*texts).split("\n")
    assert len(shown) == len(lines), shown
    for line, pattern in zip(shown, lines, strict=True):
        assert re.fullmatch(pattern, line), line


class Grid:
    """A terminal as simple as can be: rows of characters, a cursor, no colours, nothing forgotten."""

    def __init__(self) -> None:
        self.rows: list[list[str]] = [[]]
        self.row = self.column = 0

    def print(self, token: str) -> None:
        row = self.rows[self.row]
        match token:
            case "\r":
                self.column = 0
            case "\n":
                self.row += 1
                self.rows += [[]] * (self.row == len(self.rows))
                self.column = 0
            case "\b":
                if self.column and self.column == len(row):
                    row.pop()
                self.column = max(0, self.column - 1)
            case _ if token == UP:
                self.row = max(0, self.row - 1)
            case _ if token == DOWN:
                self.row = min(len(self.rows) - 1, self.row + 1)
            case _ if token == LEFT:
                self.column = max(0, self.column - 1)
            case _ if token == RIGHT:
                self.column += 1
            case _ if token == ERASE:
                del row[self.column :]
            case _:
                row += [" "] * (self.column - len(row))
                row[self.column : self.column + 1] = [token]
                self.column += 1

    @property
    def text(self) -> str:
        return "\n".join("".join(row) for row in self.rows)


MOVES = ["\r", "\n", "\b", UP, DOWN, LEFT, RIGHT, ERASE]


@pytest.mark.generated
@given(st.lists(st.sampled_from(["a", "b", "é", *MOVES]), max_size=40), st.sampled_from(["", RED]))
def test_the_text_is_that_of_the_simplest_terminal_with_and_without_colours(tokens: list[str], colour: str) -> None:
    grid = Grid()
    for token in tokens:
        grid.print(token)
    shown = folded(colour + "".join(tokens))
    assert re.sub(r"\x1b\[[0-9;]*m", "", shown) == grid.text


PARTS = ["a", "bc\n", "🦊", *MOVES, "\r\n", RED, OFF, BOLD, "x" * 3000, "y\n" * 60]
SEQUENCES = ["2A", "1K", "2K", "J", "5G", "E", "F", "?25l", "38;5;3m"]
TEXTS = st.lists(st.sampled_from([*PARTS, *(f"\x1b[{each}" for each in SEQUENCES), "\x1b]0;t\x07"]), max_size=25)


@pytest.mark.generated
@given(TEXTS.map("".join), st.data())
def test_how_a_text_is_cut_into_pieces_makes_no_difference(text: str, data: st.DataObject) -> None:
    """Also in the middle of an escape sequence, and between a carriage return and its newline."""
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert folded(*pieces) == folded(text)


def test_text_that_only_goes_on_changes_nothing_before_it() -> None:
    terminal = Terminal()
    assert terminal.feed("one\ntw") == (0, "one\ntw")
    assert terminal.feed("o\n") == (6, "o\n")
    assert terminal.feed("\x1b[?25l") is None
    assert terminal.feed("\r") is None
    assert terminal.feed("three") == (8, "three")
    assert terminal.feed(f"{UP}\rTWO") == (4, "TWO\nthree")


def test_the_cursor_reaches_back_a_bounded_number_of_lines() -> None:
    lines = [str(number) for number in range(REACH + 50)]
    shown = folded("\n".join(lines) + "\x1b[999A\rX")
    first = REACH + 50 - REACH
    assert shown.split("\n")[:first] == lines[:first]
    assert shown.split("\n")[first].startswith("X")
    assert shown.split("\n")[first + 1 :] == lines[first + 1 :]


@pytest.mark.parametrize(
    "piece",
    [
        "x" * 10_000,
        f"{'x' * 79}\n" * 125,
        f"{RED}{'x' * 70}{OFF}\n" * 125,
        "".join(f"\r{number}%" for number in range(2000)),
        f"{RED}x{OFF}" * 800,
        f"x\r{RIGHT}" * 1000,
        "\x1b[999999C!" * 10,
        f"a{UP}{'b' * 500}{DOWN}" * 15,
        f"{'a' * 300}\n" * 30 + UP * 29,
        "\x1b[31" * 2500,
        "\x1b]" + "x" * 10_000,
    ],
    ids=lambda piece: repr(piece[:12]),
)
def test_any_amount_of_text_takes_a_bounded_amount_of_memory(piece: str) -> None:
    terminal = Terminal()
    for _ in range(30):
        terminal.feed(piece)
        assert terminal.length - terminal.finished <= 24 * MOST


def test_a_line_without_an_end_goes_on_behind_what_is_finished() -> None:
    """As in a terminal, where a carriage return goes to the start of the row that a long line has wrapped to."""
    shown = folded("x" * (MOST + 10) + "\r" + "y" * 4)
    assert shown == "x" * MOST + "yyyy" + "x" * 6
