"""The last gate for values in Python: with them, the code has to be the same code.

The syntax tree with the values in it is compared with the tree that harmless words give.
Only constants may differ. So a mistake in reading strings cannot become a statement.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence

from .code_regions import CodeChange, Stretch

_NAME = "quire_value"


def fault(source: str, changes: Sequence[CodeChange], unclear: Sequence[Stretch]) -> tuple[int | None, str] | None:
    """Return the first change that makes other code of it, and why; None when only constants change.

    Without a number no change is at fault: the code is no Python even with harmless words.
    """
    blank = [(stretch.start, stretch.end, _blanked(source[stretch.start : stretch.end])) for stretch in unclear]
    seen = [change for change in changes if change.around != "unclear"]
    harmless = _tree(source, [*blank, *_first_real(seen, 0)])
    if harmless is None:
        return None, "the code around it is no Python, so nobody can tell what it would do there"

    def same(count: int) -> bool:
        """Whether the first so many values leave the code as it is."""
        inside = _tree(source, [*blank, *_first_real(seen, count, bare=False)])
        return inside == harmless and _tree(source, [*blank, *_first_real(seen, count)]) is not None

    if same(len(seen)):
        return None
    # None of them is fine, all of them are not: halve until one value makes the difference.
    fine, wrong = 0, len(seen)
    while wrong - fine > 1:
        middle = (fine + wrong) // 2
        fine, wrong = (middle, wrong) if same(middle) else (fine, middle)
    return changes.index(seen[wrong - 1]), "with it the code would be no Python, or other code"


def _first_real(changes: Sequence[CodeChange], count: int, *, bare: bool = True) -> list[tuple[int, int, str]]:
    """The first so many changes as they are, if need be without bare ones, and harmless words for the rest."""
    return [
        (each.start, each.end, each.text if index < count and (bare or each.around) else "x" if each.around else _NAME)
        for index, each in enumerate(changes)
    ]


def _blanked(text: str) -> str:
    """Spaces, and the line ends: magics are no Python."""
    return "".join(char if char == "\n" else " " for char in text)


def _spliced(source: str, changes: Sequence[tuple[int, int, str]]) -> str:
    made: list[str] = []
    position = 0
    for start, end, text in sorted(changes):
        made += (source[position:start], text)
        position = end
    return "".join((*made, source[position:]))


def _tree(source: str, changes: Sequence[tuple[int, int, str]]) -> str | None:
    """What the code is with these changes, but for its constants; None when it is no Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = _ConstantMask().visit(ast.parse(_spliced(source, changes)))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        return ast.dump(tree)


class _ConstantMask(ast.NodeTransformer):
    """Takes the values out of constants."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        """Only the type of it counts."""
        return ast.Constant(type(node.value).__name__)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.JoinedStr:
        """An f-string's text may come and go; its fields may not."""
        fields = [self.visit(value) for value in node.values if not isinstance(value, ast.Constant)]
        return ast.JoinedStr(fields)
