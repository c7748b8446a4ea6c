"""Widgets keep their last state in the file, for pages that show them where no kernel runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import nbformat

from ..command import run_process as run

SLIDER = """\
# %%
import ipywidgets
slider = ipywidgets.IntSlider(value=3)
slider

# %%
slider.value = 7
"""


def test_the_last_state_of_a_widget_is_in_the_output_and_in_an_export(tmp_path: Path) -> None:
    (tmp_path / "n.py").write_text(SLIDER)
    done = run("run", "n.py", "out.ipynb", "--json", at=tmp_path)
    assert done.returncode == 0, done.stderr
    log = json.loads(done.stdout)["run"]
    assert run("export", log, "again.ipynb", at=tmp_path).returncode == 0
    for name in ("out.ipynb", "again.ipynb"):
        book: Any = cast("Any", nbformat).read(tmp_path / name, as_version=4)
        cast("Any", nbformat).validate(book)
        state = book.metadata.widgets["application/vnd.jupyter.widget-state+json"]
        assert (state["version_major"], state["version_minor"]) == (2, 0)
        shown = book.cells[0].outputs[0].data["application/vnd.jupyter.widget-view+json"]["model_id"]
        assert state["state"][shown]["model_name"] == "IntSliderModel"
        assert state["state"][shown]["state"]["value"] == 7
