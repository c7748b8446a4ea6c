"""Runs in kernels of other languages: what is known of them is recorded, and they are reproduced."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ...command import as_json, run
from ...other_kernels import register
from ..test_languages import cell, notebook


@pytest.mark.slow
def test_a_run_in_bash_says_that_its_packages_are_not_known(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    env = register(tmp_path_factory.mktemp("jupyter"))
    made = notebook(cell("echo one"), cell("echo $((RANDOM * RANDOM))"), kernel="bash", language="bash")
    (tmp_path / "shell.ipynb").write_text(json.dumps(made))
    log: str = as_json("run", "shell.ipynb", at=tmp_path, env=env)["run"]
    record = as_json("runs", "show", log, at=tmp_path)
    assert record["packages"] is None
    assert record["environment"]["kernel_version"].startswith("bash_kernel ")
    assert record["environment"]["platform"].startswith("Linux ")
    assert "not known: its kernel is not one of Python" in run("runs", "show", log, at=tmp_path).stdout
    done = run("reproduce", log, "--json", at=tmp_path, env=env)
    found = json.loads(done.stdout)
    assert (done.returncode, [each["same"] for each in found["cells"]]) == (1, [True, False])
    assert found["around"]["packages"] is None
