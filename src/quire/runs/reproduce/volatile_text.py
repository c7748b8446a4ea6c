"""What stands in an output and says nothing about what was computed: it is another in every run.

docs/how-to/reproduce-a-run.md lists all of it for people: keep it up to date.
"""

from __future__ import annotations

import re
from typing import Any, cast

from ...core.values import Json

_PATTERNS = (
    # <Model object at 0x7f3c2a1b>
    (re.compile(r"(?<=\bat )0x[0-9a-fA-F]+"), "0x…"),
    # /tmp/ipykernel_4711/2345678.py:1: UserWarning
    (re.compile(r"ipykernel_\d+[/\\]\d+\.py"), "ipykernel_….py"),
    # Cell In[3], line 1; In [3]
    (re.compile(r"\bIn ?\[\d+\]"), "In […]"),
    (re.compile(r"<ipython-input-\d+-[0-9a-f]+>"), "<ipython-input-…>"),
    # %time, %timeit
    (re.compile(r"^(?P<what>CPU times|Wall time): .*$", re.MULTILINE), r"\g<what>: …"),
    (re.compile(r"^.*(?:±|\+-|\+/-).* per loop \(mean .*\)$", re.MULTILINE), "… per loop"),
    # 0.01s - Debugger warning: what kernels that load a debugger print in their first cell
    (re.compile(r"^\d+\.\d\ds - ", re.MULTILINE), "…s - "),
    # the clock of a progress bar: [00:01<00:00, 12.3it/s]
    (re.compile(r"\[\d+:\d\d(?::\d\d)?(?:<[^\]\n]*|, [^\]\n]*(?:it/s|s/it)[^\]\n]*)\]"), "[…]"),
    # the ids that pandas gives to a table with a style
    (re.compile(r"\bT_[0-9a-f]{5}(?=[_\"'\s.#]|$)"), "T_…"),
)
_UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b", re.IGNORECASE)
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
_MARKUP = ("text/html", "application/javascript", "image/svg+xml")


def settled(text: str, media: str = "text/plain") -> str:
    """Return a text without what is another in every run."""
    for pattern, instead in _PATTERNS:
        text = pattern.sub(instead, text)
    return _UUID.sub("…", text) if media in _MARKUP else text


def settled_value(value: Json, media: str = "text/plain") -> Json:
    """Return what is shown in a media type without what is another in every run, at any depth."""
    if media == WIDGET_VIEW:
        return "a widget"
    if isinstance(value, str):
        return settled(value, media)
    if isinstance(value, list):
        return [settled_value(each, media) for each in cast("list[Json]", value)]
    if isinstance(value, dict):
        return {name: settled_value(each, media) for name, each in cast("dict[str, Any]", value).items()}
    return value
