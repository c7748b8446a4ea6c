"""What a cell put out, as HTML: the richest form that is safe.

Pictures are `data:` pictures. HTML stands in a frame of its own, where no script runs, no
form is sent and nothing is fetched. Scripts and widgets are named, and shown by their text.
"""

from __future__ import annotations

import json
import re
from typing import Any, cast

from ...core.values import Json
from . import markdown
from .data_urls import PICTURES, data_address
from .escape import MOST_TEXT, cut, escape, escape_output, size, terminal
from .style_sheet import FRAME

MOST_HTML = 2_000_000
"""Characters of one HTML output that a page holds."""
FRAME_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src data:; font-src data:"
WIDGET = "application/vnd.jupyter.widget-view+json"
JAVASCRIPT = "application/javascript"
_SCRAP = "application/scrapbook.scrap."
# Elements that reach out although nothing may be fetched: a browser looks names up, or goes elsewhere.
_REACHING = re.compile(r"<(/?)(link|meta|base|iframe|frame|frameset|object|embed|portal|form)(?=[\s/>])", re.IGNORECASE)
_UNSEEN = re.compile(
    # What is not closed goes on to the end, so that none is looked for twice.
    r"<(script|style|head)\b(?:.*?</\1\s*>|.*\Z)|<!--(?:.*?-->|.*\Z)",
    re.IGNORECASE | re.DOTALL,
)
_VISIBLE = re.compile(r"<(?:img|svg|table|hr|audio|video|canvas|progress|meter|math)\b", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
_WIDE = 88


def render_output(output: Json, label: str) -> str:
    """Return one output as HTML; `label` says whose it is, for those who do not see it."""
    fields = cast("dict[str, Any]", output)
    match fields.get("output_type"):
        case "stream":
            kind = "stderr" if fields.get("name") == "stderr" else "stdout"
            return _text(_string(fields.get("text")), label, kind)
        case "error":
            return _error(fields, label)
        case _:
            return _bundle(_mapping(fields.get("data")), _mapping(fields.get("metadata")), label)


def _mapping(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _string(value: Any) -> str:
    if isinstance(value, list):
        return "".join(map(str, cast("list[Any]", value)))
    return value if isinstance(value, str) else "" if value is None else str(value)


def _text(text: str, label: str, kind: str = "") -> str:
    html = terminal(text.removesuffix("\n"))
    # What is wider than the page scrolls, and so has to be reached with the keyboard.
    wide = ' tabindex="0"' if any(len(line) > _WIDE for line in text[:100_000].splitlines()) else ""
    named = f' role="group" aria-label="{escape(label)}"' if wide else ""
    return f'<pre class="{f"text {kind}".strip()}"{wide}{named}>{html}</pre>' if html else ""


def _error(fields: dict[str, Any], label: str) -> str:
    traceback: Any = fields.get("traceback")
    lines = [_string(line) for line in cast("list[Any]", traceback)] if isinstance(traceback, list) else []
    said = f"{_string(fields.get('ename'))}: {_string(fields.get('evalue'))}"
    return _text("\n".join(lines) or said, f"{label}: {said[:200]}", "error")


def _note(text: str) -> str:
    return f'<p class="note">{escape(text)}</p>'


# ---- Bundles: one thing in several media types


def _bundle(data: dict[str, Any], metadata: dict[str, Any], label: str) -> str:
    for shown in (_picture, _html, _markdown, _latex, _scrap, _sound, _widget, _javascript, _json):
        html = shown(data, metadata, label)
        if html is not None:
            return html
    if "text/plain" in data:
        return _text(_string(data["text/plain"]), label)
    return _note(f"Nothing that a page can show: {', '.join(data)}.") if data else ""


def _plain_beside(data: dict[str, Any], note: str, label: str) -> str:
    """A note, and the text that stands for what cannot be shown."""
    return _note(note) + (_text(_string(data["text/plain"]), label) if "text/plain" in data else "")


def _picture(data: dict[str, Any], metadata: dict[str, Any], label: str) -> str | None:
    for media in PICTURES:
        if media not in data:
            continue
        value = _string(data[media])
        address = data_address(media, value)
        if address is None:
            return _plain_beside(data, f"A picture that cannot be shown: {media}, {size(len(value))}.", label)
        said = _string(data.get("text/plain")).strip()
        # A repr such as <Figure size 640x480> says nothing to those who do not see it.
        alt = f"Picture, {label.lower()}" if not said or said.startswith("<") else said[:200]
        return f'<img src="{address}" alt="{escape(alt)}"{_dimensions(metadata, media)}>'
    return None


def _dimensions(metadata: dict[str, Any], media: str) -> str:
    """Width and height, when the output says them."""
    said = _mapping(metadata.get(media)) or metadata
    values = {name: said.get(name) for name in ("width", "height")}
    return "".join(
        f' {name}="{int(value)}"'
        for name, value in values.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 20_000
    )


def _html(data: dict[str, Any], metadata: dict[str, Any], label: str) -> str | None:
    if "text/html" not in data:
        return None
    html = _string(data["text/html"])
    if len(html) > MOST_HTML:
        return _plain_beside(data, f"An HTML output of {size(len(html))} is left out.", label)
    seen = _UNSEEN.sub("", html)
    if not _VISIBLE.search(seen) and not _TAG.sub("", seen).strip():
        # Drawn by a script, or by nothing at all.
        return None if len(data) > 1 else _note("An output that a script draws. No script runs in this page.")
    return _frame(html, _height(seen), label)


def _frame(html: str, height: int, label: str) -> str:
    harmless = _REACHING.sub(r"<\1x-\2", html)
    page = (
        f'<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{FRAME_POLICY}">'
        f"<style>{FRAME}</style><body>{harmless}"
    )
    return f'<iframe sandbox title="{escape(label)}" style="height:{height}px" srcdoc="{escape(page)}"></iframe>'


def _height(html: str) -> int:
    """How high a frame has to be, roughly: nothing in it may run to tell."""
    rows = _count("tr", html)
    lines = max(_count("p|li|h[1-6]|br|dt|dd|pre|summary", html), 0 if rows else len(_TAG.sub("", html)) // 90 + 1)
    said = [int(number) for number in re.findall(r"\bheight\s*[=:]\s*[\"']?(\d{2,4})\b", html, re.IGNORECASE)]
    drawn = sum(said) or 300 * _count("img|svg|video|canvas", html) + 60 * _count("audio|hr", html)
    return max(44, min(30 * rows + 28 * lines + drawn + 20, 560))


def _count(tags: str, html: str) -> int:
    return len(re.findall(rf"<(?:{tags})\b", html, re.IGNORECASE))


def _markdown(data: dict[str, Any], metadata: dict[str, Any], label: str) -> str | None:
    if "text/markdown" not in data:
        return None
    return f'<div class="prose" dir="auto">{markdown.render(_string(data["text/markdown"]))}</div>'


def _latex(data: dict[str, Any], metadata: dict[str, Any], label: str) -> str | None:
    if "text/latex" not in data:
        return None
    source = _string(data["text/latex"]).strip()
    bare = re.fullmatch(r"(\$\$?)(?:\\displaystyle\b)?\s*(.*?)\s*\1", source, re.DOTALL)
    head, omitted, _ = cut(bare[2] if bare else source)
    return f'<pre class="math"><code class="math">{escape_output(head)}{omitted}</code></pre>'


def _scrap(data: dict[str, Any], metadata: dict[str, Any], label: str) -> str | None:
    """A result that the notebook recorded."""
    media = next((each for each in data if each.startswith(_SCRAP)), None)
    scrap = _mapping(data.get(media or ""))
    if "name" not in scrap:
        return None
    return f'<p class="result"><b>{escape(_string(scrap["name"]))}</b> = {_short_json(scrap.get("data"))}</p>'


def _short_json(value: Any) -> str:
    head, omitted, _ = cut(" ".join(_pretty(value).split()), 2000)
    return f"<code>{escape_output(head)}</code>{omitted}"


def _sound(data: dict[str, Any], metadata: dict[str, Any], label: str) -> str | None:
    for media, value in data.items():
        kind = media.partition("/")[0]
        if kind in ("audio", "video") and re.fullmatch(r"[a-z0-9.+-]+", media.partition("/")[2]):
            address = data_address(media, value)
            if address is not None:
                return f'<{kind} controls aria-label="{escape(label)}" src="{address}"></{kind}>'
    return None


def _widget(data: dict[str, Any], metadata: dict[str, Any], label: str) -> str | None:
    return _plain_beside(data, "A widget: it lives in a running notebook.", label) if WIDGET in data else None


def _javascript(data: dict[str, Any], metadata: dict[str, Any], label: str) -> str | None:
    if JAVASCRIPT not in data:
        return None
    source = _string(data[JAVASCRIPT])
    head, omitted, _ = cut(source, 5000)
    shown = f'<pre class="text">{escape_output(head)}{omitted}</pre>'
    return f"<details><summary>A script of {size(len(source))}, not run in this page</summary>{shown}</details>"


def _pretty(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
        # Of what is cut anyway the lines do not matter, and breaking them takes long.
        return text if len(text) > MOST_TEXT else json.dumps(value, indent=2, ensure_ascii=False)
    except RecursionError:
        return "JSON that is too deep to be shown"


def _json(data: dict[str, Any], metadata: dict[str, Any], label: str) -> str | None:
    media = next((each for each in data if each == "application/json" or each.endswith("+json")), None)
    if media is None:
        return None
    text = _pretty(data[media])
    if media == "application/json":
        return _text(text, label, "json")
    beside = _text(_string(data["text/plain"]), label) if "text/plain" in data else ""
    return f"{beside}<details><summary>{escape(media)}</summary>{_text(text, label, 'json')}</details>"
