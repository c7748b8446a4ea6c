"""The names of a piece of Python, read from its syntax tree.

A name is used if the cell may read it before it has surely defined it itself; what is defined
on one branch only, in a loop, or in a `try` that may fail is not sure. A function's names are
read when it is called, so what its cell defines further down by `def`, `class` or `import`
counts as its own. An assignment to a part (`frame["x"] = 1`, `model.rate = 2`) uses the name and
defines it: who reads it after that reads what this cell made of it.
"""

from __future__ import annotations

import ast
import builtins
import warnings
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import NamedTuple

_GIVEN = frozenset(dir(builtins)) | {
    "__file__",
    "get_ipython",
    "display",
    "In",
    "Out",
    "exit",
    "quit",
    "_",
    "__",
    "___",
}
"""Names that are there without a cell."""
_ANYTHING = frozenset({"exec", "eval", "globals", "get_ipython"})
_ANYTHING_WITHOUT_ARGUMENTS = frozenset({"locals", "vars", "dir"})
_MOST = 1_000_000

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class PythonNames(NamedTuple):
    """What a source defines, and what it takes from elsewhere."""

    defines: set[str]
    uses: set[str]


class _UnknownNames(Exception):
    """The source may read or define any name."""


def names_in(source: str) -> PythonNames | None:
    """Return the names of a source; None if it is no Python, or may do anything to any name."""
    if len(source) > _MOST:
        return None
    try:
        with warnings.catch_warnings():
            # A wrong escape in a string is the author's business, and the kernel will tell.
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
        reader = _ScopeReader()
        reader.read_all(tree.body)
    except (SyntaxError, ValueError, RecursionError, MemoryError, _UnknownNames):
        return None
    uses = reader.uses | (reader.later - reader.declared)
    return PythonNames((reader.binds | reader.changes) - {"_"}, uses - _GIVEN)


class _ScopeReader:
    """Reads the statements of one scope in order, and knows what is surely bound by then."""

    def __init__(self, *, is_class: bool = False) -> None:
        self._is_class = is_class
        self.binds: set[str] = set()
        self.uses: set[str] = set()
        """Read where it was not surely bound."""
        self.later: set[str] = set()
        """Read by a function of this scope, once it is called."""
        self.declared: set[str] = set()
        """Bound by `def`, `class` or `import`."""
        self.changes: set[str] = set()
        """Of which a part was bound."""
        self.elsewhere: set[str] = set()
        """Said to be global, or to belong to a function around this one."""
        self._sure: set[str] = set()
        self._hidden: list[set[str]] = []
        """The names of the comprehensions and lambdas around what is read."""
        self._doubts = 0

    # ---- Names

    def _load(self, name: str) -> None:
        if name not in self._sure and not any(name in names for names in self._hidden):
            self.uses.add(name)

    def _load_later(self, name: str) -> None:
        # Methods do not see the names of the class around them.
        if self._is_class or name not in self._sure:
            self.later.add(name)

    def _bind(self, name: str | None) -> None:
        if name is not None:
            self.binds.add(name)
            if not self._doubts:
                self._sure.add(name)

    def _declare(self, name: str) -> None:
        self._bind(name)
        self.declared.add(name)

    def _unbind(self, name: str) -> None:
        self._load(name)
        self.binds.add(name)
        self._sure.discard(name)

    @contextmanager
    def _doubting(self) -> Generator[None]:
        """What is bound in here may not be."""
        self._doubts += 1
        yield
        self._doubts -= 1

    # ---- Statements

    def read_all(self, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._function(node)
                self._declare(node.name)
            case ast.ClassDef():
                self._class(node)
                self._declare(node.name)
            case ast.Import() | ast.ImportFrom():
                self._import(node)
            case ast.Global() | ast.Nonlocal():
                self.elsewhere.update(node.names)
            case ast.If():
                self._expression(node.test)
                self._branches([node.body], [node.orelse])
            case ast.For() | ast.AsyncFor():
                self._loop(node.iter, node.target, node.body, node.orelse)
            case ast.While():
                self._loop(node.test, None, node.body, node.orelse)
            case ast.Try():
                self._try(node)
            case ast.Match():
                self._match(node)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    self._expression(item.context_expr)
                    self._expression(item.optional_vars)
                self.read_all(node.body)
            case _:
                self._simple_statement(node)

    def _simple_statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign():
                self._expression(node.value)
                for target in node.targets:
                    self._expression(target)
            case ast.AugAssign():
                if isinstance(node.target, ast.Name):
                    self._load(node.target.id)
                self._expression(node.value)
                self._expression(node.target)
            case ast.AnnAssign():
                self._expression(node.annotation)
                if node.value is not None:
                    self._expression(node.value)
                    self._expression(node.target)
            case ast.TryStar():
                self._try(node)
            case _:
                self._inside(node)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if alias.name == "*":
                raise _UnknownNames
            self._declare(
                alias.asname or (alias.name.partition(".")[0] if isinstance(node, ast.Import) else alias.name)
            )

    def _branches(self, *ways: list[list[ast.stmt]]) -> None:
        """Go each way from here. Sure is what is bound on all of them."""
        before = self._sure
        ends: list[set[str]] = []
        for way in ways:
            self._sure = set(before)
            for block in way:
                self.read_all(block)
            ends.append(self._sure)
        self._sure = ends[0].intersection(*ends)

    def _loop(self, over: ast.expr, target: ast.expr | None, body: list[ast.stmt], orelse: list[ast.stmt]) -> None:
        self._expression(over)
        before = set(self._sure)
        self._expression(target)
        self.read_all(body)
        self._sure = before
        self.read_all(orelse)

    def _try(self, node: ast.Try | ast.TryStar) -> None:
        before = set(self._sure)
        self.read_all([*node.body, *node.orelse])
        ends = [self._sure]
        for handler in node.handlers:
            self._sure = set(before)
            self._expression(handler.type)
            self._bind(handler.name)
            self.read_all(handler.body)
            ends.append(self._sure - {handler.name or ""})
        self._sure = ends[0].intersection(*ends)
        self.read_all(node.finalbody)

    def _match(self, node: ast.Match) -> None:
        self._expression(node.subject)
        before = self._sure
        ends = [before]
        for case in node.cases:
            self._sure = set(before)
            self._inside(case.pattern)
            self._expression(case.guard)
            self.read_all(case.body)
            ends.append(self._sure)
        takes_all = any(_takes_all(case) for case in node.cases)
        self._sure = ends[-1].intersection(*ends[takes_all:])

    # ---- Scopes of their own

    def _function(self, node: _Function) -> None:
        arguments = node.args
        for each in (*arguments.defaults, *arguments.kw_defaults):
            self._expression(each)
        parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        parameters += [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
        names = {each.arg for each in parameters}
        if isinstance(node, ast.Lambda):
            self._hidden.append(names)
            with self._doubting():
                self._expression(node.body)
            self._hidden.pop()
            return
        for each in (*node.decorator_list, node.returns, *(parameter.annotation for parameter in parameters)):
            self._expression(each)
        inner = _ScopeReader()
        inner.read_all(node.body)
        own = (inner.binds | names) - inner.elsewhere
        for name in (inner.uses | inner.later) - own - _type_parameters(node):
            self._load_later(name)
        # Who calls it binds these.
        self.binds |= inner.binds & inner.elsewhere

    def _class(self, node: ast.ClassDef) -> None:
        for each in (*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)):
            self._expression(each)
        inner = _ScopeReader(is_class=True)
        inner.read_all(node.body)
        hidden = _type_parameters(node)
        for name in inner.uses - hidden:
            self._load(name)
        for name in inner.later - hidden:
            self._load_later(name)
        self.changes |= inner.changes - inner.binds
        self.binds |= inner.binds & inner.elsewhere

    def _comprehension(self, node: _Comprehension) -> None:
        first, *others = node.generators
        self._expression(first.iter)
        named = [name for each in node.generators for name in ast.walk(each.target) if isinstance(name, ast.Name)]
        self._hidden.append({name.id for name in named if isinstance(name.ctx, ast.Store)})
        for name in named:
            if isinstance(name.ctx, ast.Load):
                self._load(name.id)
        with self._doubting():
            for each in others:
                self._expression(each.iter)
            for condition in (condition for each in node.generators for condition in each.ifs):
                self._expression(condition)
            values = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
            for value in values:
                self._expression(value)
        self._hidden.pop()

    # ---- Expressions

    def _expression(self, node: ast.expr | None) -> None:
        match node:
            case None | ast.Constant():
                pass
            case ast.Name():
                self._name(node)
            case ast.Lambda():
                self._function(node)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                self._comprehension(node)
            case ast.NamedExpr():
                self._expression(node.value)
                self._bind(node.target.id)
            case ast.BoolOp():
                self._expression(node.values[0])
                self._doubtful(node.values[1:])
            case ast.IfExp():
                self._expression(node.test)
                self._doubtful([node.body, node.orelse])
            case ast.Call():
                self._call(node)
            case ast.Attribute() | ast.Subscript() if not isinstance(node.ctx, ast.Load):
                self._part(node)
            case _:
                self._inside(node)

    def _name(self, node: ast.Name) -> None:
        match node.ctx:
            case ast.Load():
                self._load(node.id)
            case ast.Store():
                self._bind(node.id)
            case _:
                self._unbind(node.id)

    def _doubtful(self, nodes: Iterable[ast.expr]) -> None:
        with self._doubting():
            for node in nodes:
                self._expression(node)

    def _call(self, node: ast.Call) -> None:
        called = node.func.id if isinstance(node.func, ast.Name) else ""
        bare = not (node.args or node.keywords)
        if called not in self.binds and (called in _ANYTHING or (bare and called in _ANYTHING_WITHOUT_ARGUMENTS)):
            raise _UnknownNames
        self._inside(node)

    def _part(self, node: ast.Attribute | ast.Subscript) -> None:
        self._inside(node)
        base: ast.expr = node
        while isinstance(base, ast.Attribute | ast.Subscript):
            base = base.value
        if isinstance(base, ast.Name) and not any(base.id in names for names in self._hidden):
            self.changes.add(base.id)

    def _inside(self, node: ast.AST) -> None:
        """Read what stands in a node of no special meaning, in order. Patterns bind their names."""
        if isinstance(node, ast.MatchAs | ast.MatchStar):
            self._bind(node.name)
        elif isinstance(node, ast.MatchMapping):
            self._bind(node.rest)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self._expression(child)
            elif isinstance(child, ast.stmt):
                self._statement(child)
            else:
                self._inside(child)


def _takes_all(case: ast.match_case) -> bool:
    return case.guard is None and isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None


def _type_parameters(node: ast.AST) -> set[str]:
    """The names of `def f[T]`, from Python 3.12 on."""
    return {each.name for each in getattr(node, "type_params", ())}
