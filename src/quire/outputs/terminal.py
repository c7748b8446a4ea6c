r"""A stream folded as a terminal would show it (rule 7): a progress bar is one line, not its history.

What moves the cursor does so: `\r` goes to the start of the line and what is printed then
overwrites, `\b` takes the last character back, `ESC [` with A B C D E F G moves, with K or J
erases from the cursor on (1K up to it, 2K the line). Colours stay as they were sent. Every
other escape sequence is taken out and does nothing: also the one that clears a screen, for a
record forgets nothing that a person has seen scroll by.

One code point is one column, a tab too, and lines do not wrap. The cursor reaches back
REACH lines and about MOST code points; what lies before that is finished: it is given out
and forgotten, so that any amount of text takes a bounded amount of memory. How a text is cut
into pieces makes no difference.
"""

from __future__ import annotations

import re
import sys

from .ansi import PLAIN, Cell, Style, after, cells_of, text_of, turn, width_of

REACH = 100
"""How many lines stay within reach of the cursor."""
MOST = 8 * 1024
"""How many code points do, of one line or of all together; twice as many while lines are rewritten."""
WIDTH = 1000
"""How far to the right a cursor moves by itself."""

# Lengths are limited: what goes on for longer is text that happens to begin like a sequence.
_CSI = r"\x1b\[[0-?]{0,200}[ -/]{0,9}"
_STRING = r"\x1b[\]PX^_][^\x07\x1b]{0,4000}"
_OTHER = r"\x1b[ -/]{0,9}"
_TOKEN = re.compile(rf"[^\x1b\r\b]+|[\r\b]|{_CSI}[@-~]|{_STRING}(?:\x07|\x1b\\)|{_OTHER}[0-Z\\-~]|\x1b")
_BEGUN = re.compile(rf"(?:{_CSI}|{_STRING}\x1b?|{_OTHER})\Z")
_MOVE = re.compile(r"\x1b\[([0-9]{0,6})(?:;[0-9]*)?([ABCDEFGJK])")
_COLOUR = re.compile(r"\x1b\[([0-9;:]{0,200})m")
_LONGEST_SEQUENCE = 4096
_UNTOUCHED = (sys.maxsize, 0)
_BEFORE_ALL = (-1, 0)


def _moves(text: str) -> bool:
    """Whether a text does anything but go on, in colours or without."""
    return "\r" in text or "\b" in text or ("\x1b" in text and text.count("\x1b") != len(_COLOUR.findall(text)))


def _style_after(style: Style, text: str) -> Style:
    for parameters in _COLOUR.findall(text) if "\x1b" in text else ():
        style = after(style, parameters)
    return style


class _TerminalLine:
    """A line within reach: the text as it was sent, or, once it was overwritten, its cells."""

    def __init__(self, start: Style) -> None:
        self._text: str | None = ""
        self._cells: list[Cell] | None = None
        self._start = start
        self.end = start
        """The style that its text leaves in force."""

    @property
    def text(self) -> str:
        if self._text is None:
            self._text = text_of(self._cells or [], self._start, self.end)
        return self._text

    @property
    def as_sent(self) -> bool:
        return self._cells is None

    @property
    def width(self) -> int:
        return width_of(self.text) if self._cells is None else len(self._cells)

    def add(self, text: str) -> None:
        """Go on as it was sent."""
        self._text = self.text + text

    def turn(self, style: Style) -> None:
        """End in another style."""
        if self._cells is None:
            self.add(turn(self.end, style))
        else:
            self._text = None
        self.end = style

    def put(self, column: int, text: str, style: Style) -> None:
        """Overwrite from a column on. What lies beyond stays."""
        if self._plain(style):
            padded = self.text.ljust(column)
            self._text = padded[:column] + text + padded[column + len(text) :]
            return
        cells = self._opened()
        cells.extend([(PLAIN, " ")] * (column - len(cells)))
        cells[column : column + len(text)] = [(style, char) for char in text]

    def cut(self, column: int) -> None:
        """Take away what stands from a column on."""
        if self._plain(PLAIN):
            self._text = self.text[:column]
        else:
            del self._opened()[column:]

    def _plain(self, style: Style) -> bool:
        return self._cells is None and not (style or self._start or self.end) and "\x1b" not in self.text

    def _opened(self) -> list[Cell]:
        if self._cells is None:
            self._cells = cells_of(self.text, self._start)
        self._text = None
        return self._cells


class Terminal:
    """Folds one stream. It holds what the cursor can still reach, and no more."""

    def __init__(self) -> None:
        self.finished = 0
        """How many code points, from the first on, no longer change."""
        self._lines = [_TerminalLine(PLAIN)]
        self._row = 0
        self._column: int | None = None
        """None at the end of a line: most text is just appended, and needs no counting."""
        self._style = PLAIN
        self._begun = ""
        self._gone: list[str] = []
        self._changed = 0
        self._touched = _UNTOUCHED
        self._others = 0
        """Code points of all lines within reach but the cursor's, which is the only one that changes."""

    @property
    def length(self) -> int:
        """How many code points the folded text has."""
        return self.finished + self._reach() - 1

    def feed(self, text: str) -> tuple[int, str] | None:
        """Print `text`. Return from which code point on the folded text now reads what; None if it is as it was."""
        before = self.finished
        self._gone = []
        self._touched = _UNTOUCHED
        text = self._begun + text
        begun = _BEGUN.search(text, max(0, len(text) - _LONGEST_SEQUENCE))
        self._begun = begun[0] if begun is not None else ""
        # A carriage return before a newline moves the cursor and shows nothing.
        text = self._finish_most(text[: len(text) - len(self._begun)].replace("\r\n", "\n"))
        if "\x1b" in text or "\r" in text or "\b" in text:
            for token in _TOKEN.finditer(text):
                self._take(token[0])
        else:
            self._print(text)
        if self._touched == _UNTOUCHED:
            return None
        whole = "".join(self._gone) + "\n".join(line.text for line in self._lines)
        return self._changed, whole[self._changed - before :]

    def _take(self, token: str) -> None:
        match token[0]:
            case "\r":
                self._go_to(0)
            case "\b":
                self._take_back()
            case "\x1b":
                self._obey(token)
            case _:
                self._print(token)

    # ---- Printing

    def _print(self, text: str) -> None:
        while text:
            if self._flowing:
                self._flow(text)
                return
            part, newline, text = text.partition("\n")
            self._overwrite(part)
            if newline:
                self._start_next_line()

    def _flow(self, text: str) -> None:
        """Go on at the very end, which is where nearly all text goes."""
        first, newline, rest = text.partition("\n")
        self._append(first)
        if not newline:
            return
        self._add_line()
        *lines, last = rest.split("\n")
        for line in lines:
            self._append(line)
            self._add_line()
        # Once is enough: text that is only appended never brings a line back into reach.
        self._let_go()
        self._append(last)

    def _finish_most(self, text: str) -> str:
        """Finish all but the last lines of a long text that moves nothing, without looking at each. Return those."""
        if not self._flowing or text.count("\n") <= REACH or _moves(text):
            return text
        end = len(text)
        for _ in range(REACH + 1):
            end = text.rfind("\n", 0, end)
        done, rest = text[: end + 1], text[end + 1 :]
        if done:
            last = self._lines[-1]
            self._touch(self._row, len(last.text))
            last.turn(self._style)
            self._style = _style_after(self._style, done)
            self._finish_lines(self._row)
            self._finish(last.text + done)
            self._lines[0] = _TerminalLine(self._style)
            self._touched = _BEFORE_ALL
        return rest

    def _append(self, text: str) -> None:
        if not self._lines[-1].as_sent:
            self._overwrite(text)
            return
        while text:
            line = self._lines[-1]
            self._touch(self._row, len(line.text))
            line.turn(self._style)
            room = max(0, MOST - len(line.text))
            line.add(text[:room])
            text = text[room:]
            if len(line.text) >= MOST:
                self._finish_here()

    def _overwrite(self, text: str) -> None:
        while text:
            line = self._lines[self._row]
            column = line.width if self._column is None else self._column
            here, text = text[: MOST - column], text[MOST - column :]
            self._touch(self._row)
            line.put(column, here, self._style)
            if self._at_bottom:
                line.turn(self._style)
            self._go_to(column + len(here))
            if self._column is None and line.width >= MOST:
                self._finish_here()

    # ---- Moving

    @property
    def _flowing(self) -> bool:
        return self._column is None and self._at_bottom

    @property
    def _at_bottom(self) -> bool:
        return self._row == len(self._lines) - 1

    def _go_to(self, column: int) -> None:
        width = self._lines[self._row].width
        column = max(0, min(column, max(width, WIDTH)))
        self._column = None if column == width else column

    def _here(self) -> int:
        return self._lines[self._row].width if self._column is None else self._column

    def _move(self, lines: int) -> None:
        """Go up or down; past the ends, as far as there are lines."""
        column = self._here()
        self._let_go()
        self._change_line(max(0, min(self._row + lines, len(self._lines) - 1)))
        self._go_to(column)
        self._let_go()

    def _change_line(self, row: int) -> None:
        self._others += len(self._lines[self._row].text) - len(self._lines[row].text)
        self._row = row

    def _start_next_line(self) -> None:
        if self._at_bottom:
            self._add_line()
        else:
            self._change_line(self._row + 1)
            self._go_to(0)
        self._let_go()

    def _add_line(self) -> None:
        line = self._lines[-1]
        self._touch(self._row, len(line.text))
        line.turn(self._style)
        self._lines.append(_TerminalLine(self._style))
        self._others += len(line.text) + 1
        self._row += 1
        self._column = None

    def _take_back(self) -> None:
        if self._column is not None:
            self._go_to(self._column - 1)
        elif width := self._lines[self._row].width:
            self._touch(self._row)
            self._lines[self._row].cut(width - 1)

    # ---- Escape sequences

    def _obey(self, sequence: str) -> None:
        if (colour := _COLOUR.fullmatch(sequence)) is not None:
            self._colour(sequence, colour[1])
        elif (move := _MOVE.fullmatch(sequence)) is not None:
            number = int(move[1] or 0)
            if move[2] == "K":
                self._erase(number)
            elif move[2] == "J":
                self._erase_below(number)
            else:
                self._move_by(move[2], max(1, number))

    def _move_by(self, how: str, count: int) -> None:
        match how:
            case "A":
                self._move(-count)
            case "B":
                self._move(count)
            case "C":
                self._go_to(self._here() + count)
            case "D":
                self._go_to(self._here() - count)
            case "G":
                self._go_to(count - 1)
            case _:
                self._move(count if how == "E" else -count)
                self._go_to(0)

    def _colour(self, sequence: str, parameters: str) -> None:
        style = after(self._style, parameters)
        line = self._lines[self._row]
        if not self._at_bottom:
            pass  # what comes below was printed in other colours
        elif not line.as_sent:
            self._touch(self._row)
            line.turn(style)
        elif self._column is None and line.end == self._style:
            self._touch(self._row, len(line.text))
            line.add(sequence)
            line.end = style
        self._style = style
        if self._flowing and line.as_sent and len(line.text) >= MOST:
            self._finish_here()

    def _erase(self, mode: int) -> None:
        line, column = self._lines[self._row], self._here()
        if mode == 0 and self._column is not None and column < line.width:
            self._touch(self._row)
            line.cut(column)
        elif mode == 1 and line.width:
            self._touch(self._row)
            line.put(0, " " * min(column + 1, line.width), PLAIN)
        elif mode == 2 and line.width:
            self._touch(self._row)
            line.cut(0)
        self._go_to(column)

    def _erase_below(self, mode: int) -> None:
        if mode == 0:
            self._erase(0)
            if not self._at_bottom:
                self._touch(self._row)
                self._others -= sum(len(line.text) + 1 for line in self._lines[self._row + 1 :])
                del self._lines[self._row + 1 :]

    # ---- What is out of reach

    def _reach(self) -> int:
        return self._others + len(self._lines[self._row].text) + 1

    def _let_go(self) -> None:
        """Finish lines above the cursor while there are too many, or they are too long."""
        while self._row and (len(self._lines) > REACH or self._reach() > MOST):
            self._finish_lines(1)

    def _finish_lines(self, count: int) -> None:
        if count:
            text = "".join(line.text + "\n" for line in self._lines[:count])
            self._finish(text)
            self._others -= len(text)
            del self._lines[:count]
            self._row -= count
            row, column = self._touched
            self._touched = (max(-1, row - count), column)

    def _finish_here(self) -> None:
        """Finish all before the cursor: a line that is too long goes on as a terminal wraps it."""
        self._finish_lines(self._row)
        line = self._lines[0]
        self._finish(line.text)
        self._lines[0] = _TerminalLine(line.end)
        self._column = None
        self._touched = _BEFORE_ALL

    def _finish(self, text: str) -> None:
        self._gone.append(text)
        self.finished += len(text)

    def _touch(self, row: int, column: int = 0) -> None:
        """Note that the text changes from here on, unless it does from before that."""
        if (row, column) < self._touched:
            self._touched = (row, column)
            self._changed = self.finished + sum(len(line.text) + 1 for line in self._lines[:row]) + column
