"""Outputs as the text under `Results:` in a logbook: streams, text results, and errors.

What is no text (images, HTML, widgets) is not carried, nor is the data of a result beside
its `text/plain`. docs/reference/logbook.md lists it.
"""

from __future__ import annotations

import re
from typing import Any, cast

from ...core.values import Json
from .fences import option

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_TYPES = {"result": "execute_result", "display": "display_data"}
_NAMES = {value: key for key, value in _TYPES.items()}
RESULTS = "Results:"


def carried(outputs: list[Json]) -> list[Json]:
    """The outputs as a logbook carries them."""
    known = [cast("dict[str, Any]", each) for each in outputs if isinstance(each, dict)]
    return [kept for each in known if (kept := _carried(each)) is not None]


def _carried(output: dict[str, Any]) -> Json | None:
    match output.get("output_type"):
        case "stream":
            return {
                "output_type": "stream",
                "name": "stderr" if output.get("name") == "stderr" else "stdout",
                "text": _plain(output.get("text")),
            }
        case "error":
            lines: Any = output.get("traceback")
            traceback = "\n".join(_plain(line) for line in cast("list[Any]", lines if isinstance(lines, list) else []))
            return {
                "output_type": "error",
                "ename": str(output.get("ename", "")),
                "evalue": str(output.get("evalue", "")),
                "traceback": traceback.split("\n") if traceback else [],
            }
        case "execute_result" | "display_data" as kind:
            data: Any = output.get("data")
            text: Any = cast("dict[str, Any]", data).get("text/plain") if isinstance(data, dict) else None
            return None if text is None else _data(kind, _plain(text))
        case _:
            return None


def _data(kind: str, text: str) -> Json:
    data = {"output_type": kind, "data": {"text/plain": text}, "metadata": {}}
    return data | ({"execution_count": None} if kind == "execute_result" else {})


def _plain(text: Any) -> str:
    """Text without colours: a reader of Markdown sees their codes."""
    whole = "".join(cast("list[str]", text)) if isinstance(text, list) else str(text or "")
    return _ANSI.sub("", whole).replace("\x1b", "")


def write_outputs(outputs: list[Json]) -> str:
    """The `Results:` block for outputs that are carried."""
    return "\n\n".join((RESULTS, *(_fenced(cast("dict[str, Any]", each)) for each in outputs)))


def _fenced(output: dict[str, Any]) -> str:
    words: list[str] = []
    match output["output_type"]:
        case "stream":
            text = cast("str", output["text"])
            words += [option("stream", "stderr")] if output["name"] == "stderr" else []
            if text and not text.endswith("\n"):
                words.append(option("newline", False))
            lines = text.removesuffix("\n").split("\n") if text else []
        case "error":
            words += [option("output", "error"), option("ename", output["ename"]), option("evalue", output["evalue"])]
            lines = cast("list[str]", output["traceback"])
        case kind:
            words.append(option("output", _NAMES[kind]))
            text = cast("str", output["data"]["text/plain"])
            lines = text.split("\n") if text else []
    longest = max((len(run) for run in re.findall("^ {0,3}(`+)", "\n".join(lines), re.MULTILINE)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join((f"{fence}{' '.join(('text', *words))}", *lines, fence))


def read_output(text: str, has_lines: bool, given: dict[str, Any]) -> Json:
    """One output, from the text between the fences and the options behind them."""
    kind = given.get("output")
    if kind == "error":
        return {
            "output_type": "error",
            "ename": str(given.get("ename", "")),
            "evalue": str(given.get("evalue", "")),
            "traceback": text.split("\n") if has_lines else [],
        }
    if kind in _TYPES:
        return _data(_TYPES[kind], text)
    end = "\n" if has_lines and given.get("newline", True) is not False else ""
    name = "stderr" if given.get("stream") == "stderr" else "stdout"
    return {"output_type": "stream", "name": name, "text": text + end}
