"""Parameters out of the source of a cell: read from the syntax tree, never by running it.

Here is Python, read as Python reads it. Other languages are in `assignment_lines.py`.
"""

from __future__ import annotations

import ast
import datetime as dt
import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple, cast

from ..errors import BadInput
from ..values import FilePath

_TYPE_COMMENT = re.compile(r"type:\s*(\S+)\s*(.*)", re.DOTALL)


class NamedLiteral(NamedTuple):
    """One name that gets a value."""

    name: str
    line: int
    annotation: str | None = None
    choices: tuple[Any, ...] | None = None
    """What a `Literal[…]` allows."""
    known: bool = False
    """Whether `value` is its default; else `expression` is, or there is none."""
    value: Any = None
    expression: str | None = None
    help: str = ""


def names_in(source: str, language: str) -> list[NamedLiteral]:
    """Return the names that get a value at the top of the cell, each once, in order."""
    if language in ("python", "ipython"):
        found = _in_python(source)
    else:
        from .assignment_lines import in_lines

        found = in_lines(source, language)
    # A name that gets two values has the second one.
    return list({each.name: each for each in found}.values())


def type_and_help(comment: str) -> tuple[str | None, str]:
    """What a comment says; papermill's begin with `type: int` if they name one."""
    match = _TYPE_COMMENT.match(comment)
    return (match[1], match[2].strip()) if match else (None, comment)


# ---- Python


_MAGIC = re.compile(r"^[ \t]*(?:[%!?].*|[^#'\"\n]*\?\??[ \t]*|[\w., \t]+=[ \t]*[%!].*)$", re.MULTILINE)


def _in_python(source: str) -> list[NamedLiteral]:
    tree = _parsed(source)
    comments = _Comments(source)
    found: list[NamedLiteral] = []
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.append(_assigned(source, comments, node, node.target.id, node.value, node.annotation))
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                for name, value in _pairs(target, node.value):
                    found.append(_assigned(source, comments, node, name, value, None))
    return found


def _parsed(source: str) -> ast.Module:
    import warnings

    # What Python thinks of an escape in somebody's text is not for us to tell.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            pass
        try:
            return ast.parse(_MAGIC.sub("", source))
        except SyntaxError as error:
            raise BadInput(f"line {error.lineno} is not Python: {error.msg}.", line=error.lineno) from None
        except (ValueError, RecursionError, MemoryError) as error:
            raise BadInput(f"it cannot be read as Python: {error}.") from None


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[str, ast.expr]]:
    """The names of `a = …` and of `a, b = …, …` with what each gets."""
    if isinstance(target, ast.Name):
        return [(target.id, value)]
    if not isinstance(target, (ast.Tuple, ast.List)) or not isinstance(value, (ast.Tuple, ast.List)):
        return []
    if len(target.elts) != len(value.elts) or any(isinstance(each, ast.Starred) for each in value.elts):
        return []
    return [pair for one, two in zip(target.elts, value.elts, strict=True) for pair in _pairs(one, two)]


def _assigned(
    source: str, comments: _Comments, node: ast.stmt, name: str, value: ast.expr | None, annotation: ast.expr | None
) -> NamedLiteral:
    said, help = comments.of(node)
    text = ast.unparse(annotation) if annotation is not None else said
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        text = annotation.value
    found = NamedLiteral(name, node.lineno, text, allowed_by(annotation), help=help)
    # `top: int` and `top: int = ...` name a parameter that somebody has to give.
    if value is None or (isinstance(value, ast.Constant) and value.value is ...):
        return found
    try:
        return found._replace(known=True, value=value_of(value))
    except NotLiteral:
        return found._replace(expression=ast.get_source_segment(source, value) or ast.unparse(value))


class _Comments:
    """What comments say of the statements of a cell: behind them, else right above."""

    def __init__(self, source: str) -> None:
        self._behind: dict[int, str] = {}
        self._alone: dict[int, str] = {}
        for line, text, alone in _comments(source):
            (self._alone if alone else self._behind)[line] = text

    def of(self, node: ast.stmt) -> tuple[str | None, str]:
        """The type that a comment of papermill's names, and the help."""
        behind = self._behind.get(node.end_lineno or node.lineno) or self._behind.get(node.lineno)
        text = behind if behind is not None else self._above(node.lineno)
        return type_and_help(text)

    def _above(self, line: int) -> str:
        lines: list[str] = []
        while (text := self._alone.get(line - 1 - len(lines))) is not None:
            lines.insert(0, text)
        return " ".join(filter(None, lines))


def _comments(source: str) -> list[tuple[int, str, bool]]:
    """Each comment with its line, and whether it has that line to itself."""
    import tokenize

    found: list[tuple[int, str, bool]] = []
    lines = (f"{line}\n" for line in source.split("\n"))
    try:
        for token in tokenize.generate_tokens(lambda: next(lines, "")):
            if token.type == tokenize.COMMENT:
                alone = not token.line[: token.start[1]].strip()
                found.append((token.start[0], token.string.lstrip("#").strip(), alone))
    except (tokenize.TokenError, SyntaxError, IndentationError):
        pass  # magics: the comments up to there are what there is
    return found


# ---- Values: literals, and what the standard library writes for values, such as `Path("x")` and `date(2026, 1, 31)`. Nothing
# is looked up and nothing is called.


class NotLiteral(ValueError):
    """An expression that only running it can tell the value of."""


def value_of(node: ast.expr) -> Any:
    """Return the value that an expression is."""
    try:
        return _value(node)
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise NotLiteral(ast.unparse(node)) from None


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=None | bool() | int() | float() | str() | bytes()):
            return node.value
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            return _signed(node, _value(operand))
        case ast.List(elts=members):
            return [_value(each) for each in members]
        case ast.Tuple(elts=members):
            return tuple(_value(each) for each in members)
        case ast.Set(elts=members):
            return {_value(each) for each in members}
        case ast.Dict(keys=keys, values=values):
            return {_key(key): _value(each) for key, each in zip(keys, values, strict=True)}
        case ast.JoinedStr(values=parts) if all(isinstance(part, ast.Constant) for part in parts):
            return "".join(cast("str", _value(part)) for part in parts)
        case ast.Call():
            return _called(node)
        case ast.Attribute(value=ast.Name(id="math"), attr="nan" | "inf" as name):
            return getattr(math, name)
        case _:
            raise NotLiteral


def _signed(node: ast.UnaryOp, value: Any) -> Any:
    if type(value) not in (int, float):
        raise NotLiteral
    return -value if isinstance(node.op, ast.USub) else value


def _key(key: ast.expr | None) -> Any:
    if key is None:  # {**other}
        raise NotLiteral
    return _value(key)


def _called(node: ast.Call) -> Any:
    maker = _MAKERS.get(_name(node.func))
    if maker is None or any(keyword.arg is None for keyword in node.keywords):
        raise NotLiteral
    given = {cast("str", keyword.arg): _argument(keyword.value) for keyword in node.keywords}
    return maker(*(_argument(each) for each in node.args), **given)


def _argument(node: ast.expr) -> Any:
    if _name(node) in ("timezone.utc", "UTC", "datetime.UTC", "datetime.timezone.utc", "dt.timezone.utc", "dt.UTC"):
        return dt.UTC
    return _value(node)


def _name(node: ast.expr) -> str:
    """`datetime.date` of the attribute of that name."""
    if isinstance(node, ast.Name):
        return node.id
    return f"{_name(node.value)}.{node.attr}" if isinstance(node, ast.Attribute) else ""


def _path(*parts: str) -> FilePath:
    if not parts or not all(isinstance(part, str) for part in parts):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise NotLiteral
    # The last absolute part begins anew, as pathlib has it; what else it tidies is left to it.
    start = max((number for number, part in enumerate(parts) if part.startswith("/")), default=0)
    return FilePath("/".join(part.rstrip("/") or "/" for part in parts[start:]).replace("//", "/"))


def _float(text: Any = 0.0) -> float:
    if not isinstance(text, (str, int, float)):
        raise NotLiteral
    return float(text)


def _collected(make: Callable[..., Any]) -> Callable[..., Any]:
    def collect(members: Any = ()) -> Any:
        if not isinstance(members, (list, tuple, set)):
            raise NotLiteral
        return make(cast("list[Any]", members))

    return collect


_DATES: dict[str, Callable[..., Any]] = {
    "date": dt.date,
    "date.fromisoformat": dt.date.fromisoformat,
    "datetime": dt.datetime,
    "datetime.fromisoformat": dt.datetime.fromisoformat,
    "time": dt.time,
    "time.fromisoformat": dt.time.fromisoformat,
    "timedelta": dt.timedelta,
}
_MAKERS: dict[str, Callable[..., Any]] = {
    **_DATES,
    **{f"{module}.{name}": maker for module in ("datetime", "dt") for name, maker in _DATES.items()},
    # `from datetime import datetime` and `import datetime` give this one name two meanings.
    "datetime.fromisoformat": dt.datetime.fromisoformat,
    "Path": _path,
    "pathlib.Path": _path,
    "PurePath": _path,
    "pathlib.PurePath": _path,
    "float": _float,
    "set": _collected(set),
    "frozenset": _collected(frozenset),
}


def allowed_by(annotation: ast.expr | None) -> tuple[Any, ...] | None:
    """The values that a `Literal[…]` allows, also beside None; None when it is no such annotation."""
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        for one, other in ((annotation.left, annotation.right), (annotation.right, annotation.left)):
            if isinstance(other, ast.Constant) and other.value is None and (found := allowed_by(one)) is not None:
                return (*found, None)
        return None
    if not isinstance(annotation, ast.Subscript) or _name(annotation.value).rpartition(".")[2] != "Literal":
        return None
    members = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
    try:
        return tuple(value_of(member) for member in members)
    except NotLiteral:
        return None
