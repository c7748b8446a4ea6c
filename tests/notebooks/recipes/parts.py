"""What notebooks are put together from: cells, outputs, pictures, and the ways a file may be written."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal, TypeAlias

Fields: TypeAlias = dict[str, Any]
_SPLIT = ("application/javascript", "image/svg+xml")
"""Beside text/*, what nbformat writes as lists of lines."""
PYTHON: Fields = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


@dataclass(frozen=True)
class Style:
    """How a notebook is written as JSON; by default as nbformat does it."""

    indent: int | str | None = 1
    sort_keys: bool = True
    ascii: bool = False
    source: Literal["list", "string"] = "list"
    line_end: str = "\n"
    end: str = "\n"

    def text(self, notebook: Fields) -> str:
        separators = (",", ":") if self.indent is None else (",", ": ")
        text = json.dumps(
            with_sources(notebook, self.source),
            indent=self.indent,
            sort_keys=self.sort_keys,
            ensure_ascii=self.ascii,
            separators=separators,
        )
        return (text + self.end).replace("\n", self.line_end)


@dataclass(frozen=True)
class Recipe:
    """One notebook of the corpus."""

    name: str
    notebook: Fields
    run: bool = False
    """Whether a real kernel makes the outputs."""
    style: Style = field(default_factory=Style)
    after: Callable[[Fields], None] | None = None
    """What another tool would add once it has run."""


def notebook(*cells: Fields, minor: int = 5, kernel: Fields | None = None, **metadata: Any) -> Fields:
    """Put cells together. From 4.5 on each has an id."""
    kernelspec = {"kernelspec": kernel or PYTHON}
    made: Fields = {"cells": list(cells), "metadata": kernelspec | metadata, "nbformat": 4, "nbformat_minor": minor}
    if minor >= 5:
        for number, cell in enumerate(cells):
            cell.setdefault("id", sha256(f"{number} {cell['source']}".encode("utf-8", "surrogatepass")).hexdigest()[:8])
    return made


def code(
    source: str, *outputs: Fields, count: int | None = None, tags: list[str] | None = None, **metadata: Any
) -> Fields:
    if tags is not None:
        metadata["tags"] = tags
    return {
        "cell_type": "code",
        "execution_count": count,
        "metadata": metadata,
        "outputs": list(outputs),
        "source": source,
    }


def markdown(
    source: str, *, tags: list[str] | None = None, attachments: Fields | None = None, **metadata: Any
) -> Fields:
    if tags is not None:
        metadata["tags"] = tags
    made: Fields = {"cell_type": "markdown", "metadata": metadata, "source": source}
    return made if attachments is None else made | {"attachments": attachments}


def raw(source: str, *, tags: list[str] | None = None, **metadata: Any) -> Fields:
    if tags is not None:
        metadata["tags"] = tags
    return {"cell_type": "raw", "metadata": metadata, "source": source}


def keys(pairs: Fields) -> Fields:
    """Metadata whose keys are no names in Python, to pass on with `**`."""
    return pairs


def with_id(cell: Fields, id: str) -> Fields:
    return cell | {"id": id}


def stream(text: str, name: str = "stdout") -> Fields:
    return {"name": name, "output_type": "stream", "text": text}


def display(data: Fields, **metadata: Any) -> Fields:
    return {"data": data, "metadata": metadata, "output_type": "display_data"}


def result(count: int, data: Fields, **metadata: Any) -> Fields:
    return {"data": data, "execution_count": count, "metadata": metadata, "output_type": "execute_result"}


def error(ename: str, evalue: str, *traceback: str) -> Fields:
    return {"ename": ename, "evalue": evalue, "output_type": "error", "traceback": list(traceback)}


def language(name: str, extension: str, mimetype: str, version: str, **more: Any) -> Fields:
    """`language_info`, as kernels write it."""
    return {"name": name, "file_extension": extension, "mimetype": mimetype, "version": version} | more


def png(width: int, height: int, pixel: Callable[[int, int], tuple[int, int, int]]) -> str:
    """A picture as a notebook holds it: PNG in base64, with the line end that kernels write."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + b"".join(bytes(pixel(x, y)) for x in range(width)) for y in range(height))
    header = struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)
    data = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + data).decode() + "\n"


def with_sources(notebook: Fields, kind: Literal["list", "string"]) -> Fields:
    """A copy whose sources and texts are lists of lines, or strings."""
    return {key: [_cell(each, kind) for each in value] if key == "cells" else value for key, value in notebook.items()}


def _cell(cell: Fields, kind: Literal["list", "string"]) -> Fields:
    made = cell | {"source": _lines(cell["source"], kind)}
    if "outputs" in cell:
        made["outputs"] = [_output(each, kind) for each in cell["outputs"]]
    if "attachments" in cell:
        made["attachments"] = {name: _bundle(data, kind) for name, data in cell["attachments"].items()}
    return made


def _output(output: Fields, kind: Literal["list", "string"]) -> Fields:
    if "text" in output:
        return output | {"text": _lines(output["text"], kind)}
    return output | {"data": _bundle(output["data"], kind)} if "data" in output else output


def _bundle(data: Fields, kind: Literal["list", "string"]) -> Fields:
    return {
        media: _lines(value, kind) if media.startswith("text/") or media in _SPLIT else value
        for media, value in data.items()
    }


def _lines(text: str | list[str], kind: Literal["list", "string"]) -> str | list[str]:
    if isinstance(text, list):
        return text
    return text.splitlines(keepends=True) if kind == "list" else text
