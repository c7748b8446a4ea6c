"""Notebooks in another format, as `quire convert` and the git hooks write them."""

from __future__ import annotations

import json

import pytest

from quire.formats.convert import convert

SCRIPT = "# %% [markdown]\n# # Totals\n\n# %%\nprint(1)\n"
LOGBOOK = "---\ntitle: Totals\n---\n\n# Totals\n\n```python\nprint(1)\n```\n"


@pytest.mark.parametrize(
    ("text", "path", "kernel", "language"),
    [
        (SCRIPT, "a.py", "python3", "python"),
        (LOGBOOK, "a.md", "python3", "python"),
        ("# %%\nprint(1)\n", "a.R", "ir", "R"),
        ("# %%\necho 1\n", "a.sh", "bash", "bash"),
    ],
)
def test_an_ipynb_names_a_kernel_because_other_tools_guess_none(
    text: str, path: str, kernel: str, language: str
) -> None:
    spec = json.loads(convert(text, path, "a.ipynb"))["metadata"]["kernelspec"]
    assert (spec["name"], spec["language"]) == (kernel, language)
    assert spec["display_name"]


def test_a_kernel_that_is_named_stays() -> None:
    named = "# ---\n# jupyter:\n#   kernelspec:\n#     display_name: GPU\n#     language: python\n#     name: gpu\n# ---\n\n"
    spec = json.loads(convert(named + SCRIPT, "a.py", "a.ipynb"))["metadata"]["kernelspec"]
    assert spec == {"display_name": "GPU", "language": "python", "name": "gpu"}


@pytest.mark.parametrize(("text", "path"), [(SCRIPT, "a.py"), (LOGBOOK, "a.md")])
def test_the_kernel_that_was_added_does_not_come_back_into_the_text(text: str, path: str) -> None:
    assert convert(convert(text, path, "a.ipynb"), "a.ipynb", path) == text
