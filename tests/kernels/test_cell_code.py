"""A cell runs in its own language, or is refused by name: never as another language."""

from __future__ import annotations

from pathlib import Path

import pytest

from quire.core.errors import BadInput
from quire.formats import registry
from quire.kernels.cell_code import check, code_of

LOGBOOK = """\
```python
word = "python"
```

```sh name="listing"
word=shell; echo "$word"
```

```R
x <- 1
```
"""


def test_a_fence_of_the_kernels_language_is_its_source_and_one_of_a_shell_has_its_magic() -> None:
    first, second, third = registry.read(LOGBOOK, "x.md").cells
    assert code_of("code", first.source, first.metadata, None, "python") == first.source
    assert code_of("code", second.source, second.metadata, None, "python") == f"%%bash\n{second.source}"
    with pytest.raises(BadInput, match=r"a cell is r, and the kernel speaks python\..*bash, perl, ruby and SQL"):
        code_of("code", third.source, third.metadata, None, "python")


def test_a_notebook_is_refused_before_it_runs_with_the_cell_that_its_kernel_cannot_run() -> None:
    sheet = registry.read(LOGBOOK, "x.md")
    with pytest.raises(BadInput, match="is r, and the kernel speaks python"):
        check(sheet, "python")
    check(registry.read(LOGBOOK.partition("```R")[0], "x.md"), "python")
    with pytest.raises(BadInput, match="cell listing is bash, and the kernel speaks R"):
        check(sheet, "R")


@pytest.mark.parametrize(("own", "kernel"), [("bash", "bash"), ("R", "r"), ("python", "ipython"), ("sh", "Bash")])
def test_names_of_one_language_are_one(own: str, kernel: str) -> None:
    assert code_of("code", "x", {"quire": {"language": own}}, None, kernel) == "x"


def test_a_cell_that_begins_with_its_magic_has_it_once() -> None:
    source = "%%bash\necho 1"
    assert code_of("code", source, {"quire": {"language": "bash"}}, None, "python") == source


def test_a_script_says_a_language_in_its_marker_as_well() -> None:
    (cell,) = registry.read('# %% language="cobol"\nDISPLAY 1\n', "x.py").cells
    with pytest.raises(BadInput, match="is cobol, and the kernel speaks python"):
        code_of(cell.kind, cell.source, cell.metadata, cell.name, "python")


def test_the_shell_of_a_logbook_runs_as_a_shell(tmp_path: Path) -> None:
    import quire

    (tmp_path / "x.md").write_text(LOGBOOK.partition("```R")[0])
    outcome = quire.run(str(tmp_path / "x.md"), str(tmp_path / "x.ipynb"))
    shown = "".join(output["text"] for cell in outcome.notebook.cells for output in cell.get("outputs", []))
    assert shown == "shell\n"
