"""What the words of a bash script are: run, given to a command, or stored.

It reads between the strings and comments that code_regions.py found, up to the first thing
that it does not know. What is not told is not known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from .code_regions import Stretch

PlaceKind: TypeAlias = Literal["command", "argument", "data"]


class ShellWord(NamedTuple):
    """A word of bash, or a part of one, of which is known what the shell does with it."""

    start: int
    end: int
    kind: PlaceKind
    """It is run; given to a command that does not run it; or one word that is stored or opened."""


_PLAIN_WORD = re.compile(r"[A-Za-z0-9_./-]+")
_ASSIGNS = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\+?=")
_SHELL = re.compile(
    r"""(?P<blank>[ \t]+)
    | (?P<stop>;;|;&)
    | (?P<open>[$<>]\()
    | (?P<file>&>>?|<<<|[<>][&>|]?)
    | (?P<next>&&|\|\||\|&|[\n;&|])
    | (?P<body>\([ \t]*\))
    | (?P<group>\()
    | (?P<close>\))
    | (?P<chars>(?:[^ \t\n;&|()<>$]|\$(?!\())+)""",
    re.VERBOSE,
)
_BEFORE_COMMAND = frozenset(("if", "then", "elif", "else", "while", "until", "do", "!", "{"))
_CLOSES = frozenset(("fi", "done", "}"))
_STOPS = frozenset(("case", "esac", "function", "select"))
_RUNS = re.compile(
    r"""\.|(?:ba|da|z|k|mk|pdk|c|tc|a|fi|r|rba)?sh[0-9.-]*|
    alias|at|batch|bind|builtin|busybox|caffeinate|cgexec|chroot|chrt|command|compgen|complete|coproc|cpulimit
    |crontab|dbus-run-session|declare|doas|enable|entr|env|eval|exec|expect|export|fakeroot|fc|find|firejail|flock
    |gdb|getopts|hash|history|hyperfine|ionice|jobs|let|local|ltrace|make|mapfile|nice|nohup|nsenter|numactl
    |parallel|perf|pkexec|popd|proot|proxychains|pushd|read|readarray|readonly|rlwrap|rsh|run-parts|runcon|runuser
    |screen|script|set|setarch|setpriv|setsid|shopt|source|ssh|start-stop-daemon|stdbuf|strace|su|sudo|systemd-run
    |taskset|test|time|timeout|tmux|torsocks|trap|typeset|unalias|unbuffer|unset|unshare|valgrind|wait|watch|xargs
    |xvfb-run""",
    re.VERBOSE,
)
"""Commands that run what they are given, evaluate it, or set a variable that they are given the name of."""
_STEERS = re.compile(
    r"PATH|CDPATH|IFS|ENV|BASH\w*|SHELLOPTS|PS[0-4]|(?:LD|DYLD)_\w*|\w*(?:COMMAND|EDITOR|VISUAL|PAGER|SHELL|SSH|ASKPASS)"
)
"""Variables that tell a program what to run."""


class _Command(msgspec.Struct):
    """A simple command, as far as it has been read."""

    words: list[str] = []
    """From its first word on: without what is set for it, and without its files."""
    takes: bool = False
    """Whether text may stand among its arguments."""
    opens: bool = False
    """Whether text may name a file of it."""
    file: Literal["", "name", "copy"] = ""
    """Whether the next word is a file, or a number of one."""


class _Word(msgspec.Struct):
    """A word, as far as it has been read."""

    text: str = ""
    """What it begins with, up to the first quote, escape or command in it."""
    plain: bool = True
    parts: list[tuple[int, int]] = []


def shell_places(source: str, found: Sequence[Stretch]) -> list[ShellWord]:
    """Return what the words of a bash script are, in order; what is not in it is not known."""
    return sorted(_Shell(source, found).places())


class _Shell:
    """Reads words up to the first thing that it does not know."""

    def __init__(self, source: str, found: Sequence[Stretch]) -> None:
        self._source = source
        self._found = {stretch.start: stretch for stretch in found}
        self._ends = [*(stretch.start for stretch in found), len(source)]
        self._command = _Command()
        self._word: _Word | None = None
        self._outer: list[tuple[_Command, _Word | None]] = []
        self._places: list[ShellWord] = []

    def places(self) -> list[ShellWord]:
        position = index = 0
        while position < len(self._source):
            while self._ends[index] < position:
                index += 1
            stretch = self._found.get(position)
            if stretch is not None:
                if stretch.kind == "unclear" and stretch.end == len(self._source):
                    return self._places
                self._stretch(stretch)
                position = stretch.end
                continue
            match = _SHELL.match(self._source, position, self._ends[index])
            if match is None or not self._token(match):
                return self._places
            position = match.end()
        self._end_word()
        return self._places

    def _stretch(self, stretch: Stretch) -> None:
        text = self._source[stretch.start : stretch.end]
        if stretch.kind == "comment" or (text == "\\\n" and self._word is None):
            return
        word = self._begun()
        word.plain = False
        word.parts.append((stretch.start, stretch.end))

    def _begun(self) -> _Word:
        if self._word is None:
            self._word = _Word()
        return self._word

    def _token(self, match: re.Match[str]) -> bool:
        """Whether it is known what this is."""
        match match.lastgroup:
            case "chars":
                word = self._begun()
                word.text += match[0] if word.plain else ""
                word.parts.append(match.span())
            case "blank":
                return self._end_word()
            case "next":
                known = self._end_word()
                self._command = _Command()
                return known
            case "file":
                return self._file(match[0])
            case "open":
                self._outer.append((self._command, self._begun()))
                self._command, self._word = _Command(), None
            case "body":
                return self._body()
            case "group":
                return self._group()
            case "close":
                return self._close()
            case _:
                return False
        return True

    def _file(self, sign: str) -> bool:
        if self._word is not None and self._word.plain and self._word.text.isdigit():
            self._word = None  # `2>`: the number of a file
        known = self._end_word()
        # Bash expands what stands behind `>&` twice, quotes or not.
        self._command.file = "copy" if sign.endswith("&") else "name"
        return known

    def _body(self) -> bool:
        """Of a function: `name()`, and then its commands."""
        is_file = self._command.file != ""
        self._end_word()
        words, self._command = self._command.words, _Command()
        return not is_file and len(words) == 1 and _PLAIN_WORD.fullmatch(words[0]) is not None

    def _group(self) -> bool:
        """A subshell, where a command may stand."""
        command = self._command
        if self._word is not None or command.words or command.file:
            return False
        self._outer.append((command, None))
        self._command = _Command()
        return True

    def _close(self) -> bool:
        if not self._end_word() or not self._outer:
            return False
        self._command, self._word = self._outer.pop()
        if self._word is not None:
            self._word.plain = False
        else:
            self._command.words.append(")")
            self._command.opens = True
        return True

    # A word is over: what was it?

    def _end_word(self) -> bool:
        word, self._word = self._word, None
        if word is None:
            return True
        command = self._command
        if command.file:
            is_name, command.file = command.file == "name", ""
            return self._add(word, "data" if command.opens and is_name else None)
        if command.words:
            command.words.append(word.text if word.plain else "")
            return self._add(word, "argument" if command.takes and self._in_loop() else None)
        assigned = _ASSIGNS.match(word.text)
        if assigned is not None:
            return self._add(word, None if _STEERS.fullmatch(assigned[1]) else "data")
        return self._first(word)

    def _first(self, word: _Word) -> bool:
        command = self._command
        name = word.text if word.plain else ""
        if name in _BEFORE_COMMAND:
            return True
        if name in _STOPS:
            return False
        command.words.append(name)
        last = name.rsplit("/", 1)[-1]
        known = _PLAIN_WORD.fullmatch(name) is not None and _RUNS.fullmatch(last) is None
        command.takes = known and name not in _CLOSES
        command.opens = known or name in _CLOSES
        return self._add(word, "command")

    def _in_loop(self) -> bool:
        """Of `for x in …` only what stands behind `in`; all other commands have arguments from the first on."""
        words = self._command.words
        return words[0] != "for" or (len(words) > 3 and words[2] == "in" and not _STEERS.fullmatch(words[1]))

    def _add(self, word: _Word, kind: PlaceKind | None) -> bool:
        if kind is not None:
            self._places += (ShellWord(start, end, kind) for start, end in word.parts)
        return True
