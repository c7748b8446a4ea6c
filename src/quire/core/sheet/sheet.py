"""A notebook without its history: what a file holds, and what diff and merge compare.

Every format in `files/` reads text into a `Sheet` and writes one as text. The fields and
the metadata are nbformat's, so that what one format knows and another does not is carried
along: a title, a slide type, a widget's state. A notebook (the fold of a log) becomes a
sheet when it is exported.
"""

from __future__ import annotations

from base64 import b32encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, cast

import msgspec

from ..events import CellKind
from ..ids import CellId
from ..values import Json

OURS = "quire"
"""The key of our own in nbformat's metadata: a cell's kind, a notebook's parameters and environment."""


def cell_language(metadata: Mapping[str, Json]) -> str | None:
    """Return the language that a cell's metadata name for it; None: it is in that of its notebook."""
    ours: Any = metadata.get(OURS)
    for section in (ours, metadata):
        found: Any = cast("dict[str, Any]", section).get("language") if isinstance(section, dict) else None
        if isinstance(found, str) and found:
            return found
    return None


def is_json(media: str) -> bool:
    """Whether nbformat keeps a media type as JSON: its lists are lists, and no lines of a text."""
    return media == "application/json" or (media.startswith("application/") and media.endswith("+json"))


def is_text(media: str) -> bool:
    """Whether nbformat keeps a media type as text; the others are Base64."""
    main = media.partition(";")[0].strip().lower()
    return main.startswith("text/") or main.endswith(("+xml", "/xml", "/javascript")) or main == "application/x-tex"


class SheetCell(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A cell as a file has it."""

    id: CellId
    """The file's own, or derived from content and order where it has none."""
    kind: CellKind = "code"
    source: str = ""
    name: str | None = None
    tags: tuple[str, ...] = ()
    metadata: dict[str, Json] = {}
    """nbformat's cell metadata without what `name`, `tags` and `kind` say."""
    outputs: list[Json] = []
    """nbformat's outputs, each text joined to one string."""
    count: int | None = None
    attachments: dict[str, Json] = {}
    extra: dict[str, Json] = {}
    """Fields of the cell that nbformat does not know."""


class Sheet(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A notebook as a file has it."""

    cells: tuple[SheetCell, ...] = ()
    metadata: dict[str, Json] = {}
    """nbformat's notebook metadata: kernelspec, language_info, and `quire` with what is ours."""
    extra: dict[str, Json] = {}
    """Fields of the notebook that nbformat does not know."""

    @property
    def language(self) -> str:
        """The language its code cells are written in, in lower case."""
        for key, name in (("kernelspec", "language"), ("language_info", "name"), ("jupytext", "main_language")):
            section: Any = self.metadata.get(key)
            found: Any = cast("dict[str, Any]", section).get(name) if isinstance(section, dict) else None
            if isinstance(found, str) and found:
                return found.lower()
        return "python"

    @property
    def ours(self) -> dict[str, Json]:
        """What Quire keeps in the notebook's metadata: parameters, environment, and the like."""
        found: Any = self.metadata.get(OURS)
        return cast("dict[str, Json]", found) if isinstance(found, dict) else {}


def derived_ids(contents: Iterable[tuple[str, str]], taken: Iterable[str] = ()) -> Iterator[CellId]:
    """Give each cell, told by kind and source, an id that the same file always gives it (rule 13).

    The id comes from the content and from how many like it came before, so a cell keeps it
    when others are added, removed or moved. The first four characters are nobody else's.
    """
    prefixes = {other[:4] for other in taken}
    seen: dict[tuple[str, str], int] = {}
    for content in contents:
        number = seen.get(content, 0)
        seen[content] = number + 1
        salt = 0
        while _is_taken(text := _id_from(content, number, salt), prefixes):
            salt += 1
        prefixes.add(text[:4])
        yield CellId(text)


def _is_taken(text: str, prefixes: set[str]) -> bool:
    # Of ids that are shorter than four characters, all of them is the prefix.
    return text[:4] in prefixes or text[:3] in prefixes or text[:2] in prefixes or text[:1] in prefixes


def _id_from(content: tuple[str, str], number: int, salt: int) -> str:
    kind, source = content
    digest = sha256(f"{kind}\0{number}\0{salt}\0{source}".encode("utf-8", "surrogatepass")).digest()
    # A letter first, so that no id looks like the number of a cell.
    return "abcdefghjkmnpqrstvwxyz"[digest[0] % 22] + b32encode(digest[1:6]).decode().lower()[:7]


def with_ids(cells: Sequence[SheetCell]) -> tuple[SheetCell, ...]:
    """Give an id to every cell whose id is empty or was used by one before it; the others keep theirs."""
    taken: set[str] = set()
    missing: list[int] = []
    for index, cell in enumerate(cells):
        if not cell.id or cell.id in taken:
            missing.append(index)
        taken.add(cell.id)
    if not missing:
        return tuple(cells)
    ids = derived_ids(((cells[index].kind, cells[index].source) for index in missing), taken - {""})
    new = dict(zip(missing, ids, strict=True))
    return tuple(
        msgspec.structs.replace(cell, id=new[index]) if index in new else cell for index, cell in enumerate(cells)
    )
