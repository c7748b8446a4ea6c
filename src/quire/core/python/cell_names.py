"""Which names a cell defines and which it uses, for staleness.

Only Python is understood, and only where the source says it all: a cell magic, a star import,
a call of `exec` or `globals` and the like may do anything to any name. For those, and for
other languages, the answer is None, and any change above counts (docs/spec.md, Staleness).

IPython's own lines do not break it: a magic that runs a statement (`%time x = f()`) is read
as that statement, a shell line or another magic as a use of the names it mentions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

_PYTHON = ("python", "python3", "ipython", "ipython3")
_INDENT = r"(?P<indent>[ \t]*)"
_TARGET = r"(?P<target>[^\W\d][\w\s,.\[\]'\"()*]*?=\s*)?"
SHELL = re.compile(rf"{_INDENT}{_TARGET}!{{1,2}}(?P<rest>.*)", re.DOTALL)
MAGIC = re.compile(rf"{_INDENT}{_TARGET}%(?P<name>[A-Za-z_][\w.]*)(?:[ \t]+(?P<rest>.*))?[ \t]*", re.DOTALL)
_HELP = re.compile(rf"{_INDENT}(?:\?{{1,2}}\s*[\w.*%]+|[\w.*%]+\s*\?{{1,2}})[ \t]*;?[ \t]*")
_MENTIONED = re.compile(r"\$\$|\$\{?([^\W\d]\w*)|\{\{|\{([^{}]*)\}")
_RUNS_HERE = ("time", "prun")
_RUNS_APART = ("timeit", "memit", "mprun", "lprun")
_OPTION = re.compile(r"-{1,2}\w+(?:[ =]\d+)?[ \t]+")
_MAY_DEFINE = (
    "run",
    "load",
    "loadpy",
    "pylab",
    "store",
    "reset",
    "reset_selective",
    "edit",
    "recall",
    "rerun",
    "macro",
)
_WORD = re.compile(r"[^\W\d]\w*")


class Names(msgspec.Struct, frozen=True, kw_only=True):
    """What a cell defines at the top level, and what it takes from elsewhere; both sorted."""

    defines: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()


def analyse(source: str, language: str) -> Names | None:
    """Return the names a cell defines and uses; None where nobody can say."""
    if language.lower() not in _PYTHON or source.lstrip().startswith("%%"):
        return None
    source = _dedented(source)
    # Imported when needed: it walks a syntax tree, and cells in other languages have none.
    from .names import names_in

    found = names_in(source)
    if found is None:
        plain = _without_magics(source)
        found = names_in(plain) if plain is not None and plain != source else None
    return None if found is None else Names(defines=tuple(sorted(found.defines)), uses=tuple(sorted(found.uses)))


def _dedented(source: str) -> str:
    """Return a cell that is indented as a whole without that, as IPython reads it."""
    indent = re.match(r"(?:[ \t]*\r?\n)*([ \t]*)", source)
    if indent is None or not indent[1]:
        return source
    return re.sub(rf"^{indent[1]}", "", source, flags=re.MULTILINE)


def _without_magics(source: str) -> str | None:
    """Return the source with IPython's lines as Python; None if one of them may define any name."""
    lines: list[str] = []
    for line in _logical_lines(source):
        plain = _plain_line(line)
        if plain is None:
            return None
        lines.append(plain)
    return "\n".join(lines)


def _logical_lines(source: str) -> Iterator[str]:
    """Each line; a magic or shell line together with those that a backslash joins to it."""
    lines = iter(source.split("\n"))
    for line in lines:
        if _is_special(line):
            while line.rstrip("\r").endswith("\\") and (more := next(lines, None)) is not None:
                line = line.rstrip("\r")[:-1] + " " + more
        yield line


def _is_special(line: str) -> bool:
    return any(mark in line for mark in "!%?") and (
        SHELL.fullmatch(line) is not None or MAGIC.fullmatch(line) is not None or _HELP.fullmatch(line) is not None
    )


def _plain_line(line: str) -> str | None:
    line = line.rstrip("\r")
    if not any(mark in line for mark in "!%?"):
        return line
    if (shell := SHELL.fullmatch(line)) is not None:
        return f"{shell['indent']}{shell['target'] or ''}({_mentioned(shell['rest'])})"
    if (magic := MAGIC.fullmatch(line)) is not None:
        return _plain_magic(magic)
    return f"{line[: len(line) - len(line.lstrip())]}pass" if _HELP.fullmatch(line) is not None else line


def _plain_magic(magic: re.Match[str]) -> str | None:
    name, rest, start = magic["name"], magic["rest"] or "", magic["indent"] + (magic["target"] or "")
    if name in _MAY_DEFINE:
        return None
    if name not in (*_RUNS_HERE, *_RUNS_APART):
        return f"{start}({_mentioned(rest)})"
    while (option := _OPTION.match(rest)) is not None:
        rest = rest[option.end() :]
    if name in _RUNS_HERE or not rest:
        return f"{start}{rest or 'pass'}"
    return f"{start}(lambda: ({rest}))" if magic["target"] else f"{start}def _(): {rest}"


def _mentioned(text: str) -> str:
    """The names that a shell line or a magic takes from the notebook: `$name` and `{expression}`."""
    words: list[str] = []
    for name, expression in _MENTIONED.findall(text):
        words += [name] if name else _WORD.findall(expression)
    return "".join(f"{word}, " for word in words)
