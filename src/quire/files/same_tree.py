"""The last gate for values in Python: with them, the code has to be the same code.

The syntax tree with the values in it is compared with the tree that harmless words give.
Only constants may differ. So a mistake in reading strings cannot become a statement.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence

from ..core.errors import BadInput
from .stretches import Change, Stretch

_NAME = "quire_value"


def check_same_tree(source: str, changes: Sequence[Change], unclear: Sequence[Stretch]) -> None:
    """Refuse what values would make of the code, unless only constants change."""
    blank = [(stretch.start, stretch.end, _blanked(source[stretch.start : stretch.end])) for stretch in unclear]
    inside = [change for change in changes if change.around in ("text", "comment")]
    bare = [change for change in changes if change.around is None]
    names = [(change.start, change.end, _NAME) for change in bare]
    harmless = _tree(source, [*blank, *names, *((change.start, change.end, "x") for change in inside)])
    actual = _tree(source, [*blank, *names, *((change.start, change.end, change.text) for change in inside)])
    whole = _tree(source, [*blank, *((change.start, change.end, change.text) for change in (*inside, *bare))])
    if harmless is None or harmless != actual or whole is None:
        raise BadInput("line 1: its values cannot be put in safely: with them it is no Python, or not the same code.")


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
            tree = _Masked().visit(ast.parse(_spliced(source, changes)))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        return ast.dump(tree)


class _Masked(ast.NodeTransformer):
    """Takes the values out of constants."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        """Only the type of it counts."""
        return ast.Constant(type(node.value).__name__)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.JoinedStr:
        """An f-string's text may come and go; its fields may not."""
        fields = [self.visit(value) for value in node.values if not isinstance(value, ast.Constant)]
        return ast.JoinedStr(fields)
