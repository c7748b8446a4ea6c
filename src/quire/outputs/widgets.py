"""The state of a kernel's widgets, as ipywidgets saves it in a notebook's metadata.

A kernel tells the state of a widget when it opens a comm, and what changes after that. What
is kept is the last of it, so that a notebook shows its widgets where no kernel runs. Which
outputs a widget captures is for a page to do: here they stay in the cell.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from ..core.values import Json
from .media import fields_in, valid, whole_characters
from .secrets import Remover

if TYPE_CHECKING:
    from .display_events import KernelMessage

WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
_TARGET = "jupyter.widget"


class _Widget:
    """One widget: its state, and the binary parts of it by their path."""

    def __init__(self) -> None:
        self.state: dict[str, Json] = {}
        self.buffers: dict[tuple[str | int, ...], bytes] = {}

    def update(self, state: dict[str, Json], paths: Json, buffers: tuple[bytes, ...]) -> None:
        for name in state:
            # What was binary may not be any more: a part belongs to the value it came with.
            self.buffers = {path: part for path, part in self.buffers.items() if path[0] != name}
        self.state |= state
        for path, part in zip(_paths(paths), buffers, strict=False):
            if path:
                self.buffers[path] = bytes(part)

    def as_saved(self, remover: Remover) -> dict[str, Json]:
        saved: dict[str, Json] = {
            "model_name": self.state.get("_model_name"),
            "model_module": self.state.get("_model_module"),
            "model_module_version": self.state.get("_model_module_version"),
            "state": dict(self.state),
        }
        if self.buffers:
            saved["buffers"] = [
                {"encoding": "base64", "path": list(path), "data": remover.clean_text(base64.b64encode(part).decode())}
                for path, part in self.buffers.items()
            ]
        return saved


def _paths(given: Json) -> Iterator[tuple[str | int, ...]]:
    """Where in the state each buffer belongs; nothing for a path that is none."""
    for path in cast("list[Json]", given if isinstance(given, list) else []):
        steps = cast("list[Json]", path if isinstance(path, list) else [])
        known = all(isinstance(step, str | int) for step in steps)
        yield tuple(whole_characters(step) if isinstance(step, str) else step for step in steps) if known else ()


class WidgetStates:
    """Every widget of a kernel, whichever execution made or changed it."""

    def __init__(self, remover: Remover | None = None) -> None:
        self._remover = remover or Remover({})
        self._widgets: dict[str, _Widget] = {}

    def take(self, message: KernelMessage) -> None:
        """Note what a message says about a widget; others are none of its business."""
        content = fields_in(message.content)
        comm: Json = content.get("comm_id")
        if not isinstance(comm, str):
            return
        data = fields_in(content.get("data"))
        match message.type:
            case "comm_open" if content.get("target_name") == _TARGET:
                self._widgets[comm] = _Widget()
                self._update(comm, data, message.buffers)
            case "comm_msg" if data.get("method") == "update" and comm in self._widgets:
                self._update(comm, data, message.buffers)
            case "comm_close":
                self._widgets.pop(comm, None)
            case _:
                pass

    def _update(self, comm: str, data: dict[str, Json], buffers: tuple[bytes, ...]) -> None:
        try:
            state = fields_in(self._remover.clean(valid(data.get("state"))))
        except (RecursionError, ValueError):
            return  # no widget is nested so deeply
        self._widgets[comm].update(state, data.get("buffer_paths"), buffers)

    def as_metadata(self) -> dict[str, Json]:
        """Return what belongs under `widgets` in a notebook's metadata; nothing when there are no widgets."""
        widgets = {comm: widget for comm, widget in self._widgets.items() if "_model_name" in widget.state}
        if not widgets:
            return {}
        state = {whole_characters(comm): widget.as_saved(self._remover) for comm, widget in widgets.items()}
        return {WIDGET_STATE: {"version_major": 2, "version_minor": 0, "state": state}}
