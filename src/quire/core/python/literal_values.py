"""Values written in Python, read from the syntax tree: nothing is looked up and nothing is called.

Beside literals, what the standard library writes for values: `Path("x")`,
`date(2026, 1, 31)`, `datetime(…)`, `time(…)`, `timedelta(…)`, `float("nan")`, `math.inf`,
`set()`.
"""

from __future__ import annotations

import ast
import datetime as dt
import math
from collections.abc import Callable
from typing import Any, cast

from ..values import FilePath


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
