"""Values in JavaScript and TypeScript, as the literals of a logbook are written."""

from __future__ import annotations

from typing import Any

from ...core.errors import BadInput
from ..logbook.fill_literals import literal
from .translate import LiteralWriter, Unfit, text_keys


class JavaScript(LiteralWriter):
    """A `var`, which may be said twice in one kernel."""

    language = "JavaScript"
    comment = "// {}"
    reserved = frozenset(
        ("arguments", "await", "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete", "do",
         "else", "enum", "eval", "export", "extends", "false", "finally", "for", "function", "if", "implements", "import",
         "in", "instanceof", "interface", "let", "new", "null", "package", "private", "protected", "public", "return",
         "static", "super", "switch", "this", "throw", "true", "try", "typeof", "var", "void", "while", "with", "yield",
         "undefined", "NaN", "Infinity", "Uint8Array")
    )  # fmt: skip

    def assign(self, name: str, value: Any) -> str:
        """A variable."""
        return f"var {name} = {self.write(value)};"

    def integer(self, value: int) -> str:
        """A number, as long as it is exact."""
        return self._literal(value)

    def not_finite(self, value: float) -> str:
        """NaN and the infinities."""
        return self._literal(value)

    def text(self, value: str) -> str:
        """Text."""
        return self._literal(value)

    def _literal(self, value: Any) -> str:
        try:
            return literal(value, "javascript")
        except BadInput as error:
            raise Unfit(value, str(error).rstrip(".")) from None

    def binary(self, value: bytes) -> str:
        """An array of bytes."""
        return f"new Uint8Array([{', '.join(map(str, value))}])"

    def listed(self, value: list[Any]) -> str:
        """An array."""
        return f"[{self.all(value)}]"

    def set_of(self, members: list[Any], *, frozen: bool) -> str:
        """A Set; members that are objects would be told apart by who they are."""
        if frozen or any(isinstance(each, (tuple, frozenset, bytes)) for each in members):
            return super().set_of(members, frozen=frozen)
        return f"new Set([{self.all(members)}])"

    def mapping(self, value: dict[Any, Any]) -> str:
        """An object; in brackets, `__proto__` is a key like any other."""
        pairs = ", ".join(f"[{self.text(key)}]: {self.write(each)}" for key, each in text_keys(value).items())
        return f"{{{pairs}}}"
