"""Outputs that came with a file are shown as imported wherever they are shown: no kernel here made them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from ..doors.mcp.agents import over_stdio
from .server import Folder, Server

STREAM = {"output_type": "stream", "name": "stdout", "text": "42 sold\n"}
CELL: dict[str, Any] = {
    "cell_type": "code",
    "id": "sold",
    "metadata": {},
    "source": "print(42, 'sold')",
    "outputs": [STREAM],
}
FILE: dict[str, Any] = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [CELL | {"execution_count": 1}]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Folder]:
    made = Folder(tmp_path_factory.mktemp("brought"))
    made.quire("init")
    (made.path / "sales.ipynb").write_text(json.dumps(FILE))
    yield made
    made.close()


@pytest.fixture(scope="module")
def server(folder: Folder) -> Server:
    return folder.start("--no-mirror")


def test_an_imported_output_is_shown_as_imported_at_each_door(folder: Folder, server: Server) -> None:
    log = folder.quire("import", "sales.ipynb", "--json")["log"]
    shown = folder.quire("show", log, "--view", "full").stdout
    assert "42 sold" in shown and " imported " in shown
    printed = folder.quire("output", log, "sold")
    assert (printed.stdout, "imported" in printed.stderr) == ("42 sold\n", True)
    assert folder.quire("output", log, "sold", "--json")["imported"] is True
    folder.quire("export", log, "sales.html")
    assert '<p class="note">Imported' in (folder.path / "sales.html").read_text()
    with over_stdio(folder.path, "--as", "bot") as agent:
        assert " imported " in agent.told("read", notebook=log, view="full")
        assert " imported " in agent.told("output", notebook=log, of="sold").split("\n")[0]
        assert " imported " in agent.told("output", notebook=log, of="sold", find="42").split("\n")[0]
        assert agent.facts("output", notebook=log, of="sold")["imported"] is True
    with server.client(folder.token("read")) as client:
        cells: dict[str, Any] = client.get(f"/api/notebooks/{log}").json()["cells"]
        assert cells["sold"]["execution"]["imported"] is True
