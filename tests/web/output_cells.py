"""Notebooks whose cells show something: outputs as a file has them, taken in as people take in a notebook from elsewhere."""

from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import FrameLocator, Locator, Page

from .app import App, answered

Outputs = list[dict[str, Any]]


def display(**media: Any) -> Outputs:
    """One display: `text_plain="x"` is `text/plain`."""
    return [{"output_type": "display_data", "metadata": {}, "data": {_media(name): it for name, it in media.items()}}]


def shown_as(media: str, value: Any, **metadata: Any) -> Outputs:
    """One display of one media type."""
    return [{"output_type": "display_data", "metadata": metadata, "data": {media: value}}]


def html(text: str) -> Outputs:
    return shown_as("text/html", text)


def printed(text: str, name: str = "stdout") -> Outputs:
    return [{"output_type": "stream", "name": name, "text": text}]


def raised(ename: str, evalue: str, traceback: list[str]) -> Outputs:
    return [{"output_type": "error", "ename": ename, "evalue": evalue, "traceback": traceback}]


def _media(name: str) -> str:
    return name.replace("_", "/", 1)


def imported(app: App, name: str, *cells: Outputs, metadata: dict[str, Any] | None = None) -> str:
    """Take in a notebook with a cell for each of these outputs, and return its log."""
    made: list[dict[str, Any]] = [
        {
            "cell_type": "code",
            "id": f"c{n}",
            "metadata": {},
            "source": f"show({n})",
            "execution_count": n + 1,
            "outputs": it,
        }
        for n, it in enumerate(cells)
    ]
    text = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata or {}, "cells": made})
    with app.client() as client:
        answer = client.post("/api/imports", params={"format": "ipynb", "name": name}, content=text)
        return answered(answer)["log"]


def outputs_of(page: Page, number: int) -> Locator:
    """What the cell of this number shows."""
    return page.locator("[data-cell]").nth(number).locator("[data-outputs]")


def frame_of(page: Page, number: int) -> FrameLocator:
    """The frame in what the cell of this number shows."""
    return outputs_of(page, number).frame_locator("iframe")
