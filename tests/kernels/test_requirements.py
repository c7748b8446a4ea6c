"""What a notebook declares, and what of that is missing in a real interpreter."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from quire.core.errors import BadInput
from quire.core.ids import CellId
from quire.core.sheet.sheet import Sheet, SheetCell
from quire.formats import registry
from quire.kernels.environments import find
from quire.kernels.kernel_protocol import Spec
from quire.kernels.requirements import MissingRequirements, Needs, missing, needs_of

from .test_environments import environment

BLOCK = """# /// script
# requires-python = ">=3.11"
# dependencies = ["fruit<2", "nothing-like-it"]
#
# [tool.quire]
# variables = ["REPORT_URL"]
# secrets = ["API_KEY"]
# ///
"""


def sheet(*sources: str, **environment: Any) -> Sheet:
    cells = tuple(SheetCell(id=CellId(f"c{index}"), source=source) for index, source in enumerate(sources))
    return Sheet(cells=cells, metadata={"quire": {"environment": environment}} if environment else {})


DECLARED = Needs(
    python=">=3.11", packages=("fruit<2", "nothing-like-it"), variables=("REPORT_URL",), secrets=("API_KEY",)
)


@pytest.mark.parametrize("source", [BLOCK, f"import sys\n{BLOCK}print()", BLOCK.replace("\n", "\r\n"), BLOCK.rstrip()])
def test_a_block_in_any_code_cell_declares(source: str) -> None:
    assert needs_of(sheet("1 + 1", source)) == DECLARED


def test_a_percent_file_declares_as_scripts_do() -> None:
    assert needs_of(registry.read(f"{BLOCK}\n# %%\nprint()\n", "x.py")) == DECLARED


def test_metadata_declares_too_and_both_add_up() -> None:
    environment = {"python": ">=3.9", "dependencies": ["fruit<2", "other"], "variables": ["A"], "secrets": ["API_KEY"]}
    assert needs_of(sheet(BLOCK, **environment)) == Needs(
        python=">=3.11",
        packages=("fruit<2", "nothing-like-it", "other"),
        variables=("REPORT_URL", "A"),
        secrets=("API_KEY",),
    )
    assert needs_of(sheet(python=">=3.9")).python == ">=3.9"


@pytest.mark.parametrize(
    "source", ["", "# /// script", "# /// script\n# ///x", " # /// script\n # ///", "'# /// script'"]
)
def test_what_only_looks_like_a_block_declares_nothing(source: str) -> None:
    assert needs_of(sheet(source)) == Needs()


def test_prose_about_a_block_declares_nothing() -> None:
    assert needs_of(Sheet(cells=(SheetCell(id=CellId("m"), kind="markdown", source=BLOCK),))) == Needs()


@pytest.mark.parametrize(
    ("declared", "fault"),
    [
        (sheet(BLOCK, BLOCK), "Cells c0 and c1: one"),
        (sheet("# /// script\n# x = \n# ///"), "Cell c0: .* is no TOML"),
        (sheet("# /// script\n# dependencies = 'x'\n# ///"), "dependencies in the .* has to be a list of texts"),
        (sheet("# /// script\n# requires-python = 3\n# ///"), "requires-python in the .* has to be text"),
        (sheet("# /// script\n# tool = 3\n# ///"), "tool in .* has to be a table"),
        (sheet(variables=[1]), "variables in environment in quire in the metadata has to be a list of texts"),
        (Sheet(metadata={"quire": {"environment": []}}), "environment in .* has to be a table"),
    ],
)
def test_what_is_declared_wrongly_is_named(declared: Sheet, fault: str) -> None:
    with pytest.raises(BadInput, match=fault):
        needs_of(declared)


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> Spec:
    """A kernel in an environment that has fruit 1.5 and not much else."""
    folder = tmp_path_factory.mktemp("needs")
    environment(folder / ".venv", version="1.5")
    return find("python", None, cwd=folder, environ={})


def test_packages_are_looked_up_in_the_interpreter_that_is_to_run(spec: Spec) -> None:
    wanted = ("fruit", "Fruit>=1.5", "fruit>1,<2", "fruit<1.5", "fruit[all]~=1.4", "nothing-like-it", "sys")
    assert missing(Needs(packages=wanted), spec, {}).packages == ("fruit<1.5", "nothing-like-it", "sys")


def test_markers_are_those_of_the_interpreter(spec: Spec) -> None:
    wanted = ("none; python_version < '3'", "none; python_version >= '3'", "fruit<1; sys_platform == 'win32'")
    assert missing(Needs(packages=wanted), spec, {}).packages == ("none; python_version >= '3'",)


def test_the_version_of_python_counts(spec: Spec) -> None:
    assert missing(Needs(python=">=3.8"), spec, {}) == MissingRequirements()
    assert missing(Needs(python="<3"), spec, {}) == MissingRequirements(python="<3")


def test_without_packaging_names_are_all_that_is_compared(spec: Spec, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "packaging.requirements", None)
    wanted = Needs(python="<3", packages=("fruit<1", "nothing-like-it>=1", "none; python_version >= '3'"))
    assert missing(wanted, spec, {}) == MissingRequirements(packages=("nothing-like-it>=1",))


@pytest.mark.parametrize("wrong", ["fruit<<1", "-r requirements.txt", "", "fruit @ "])
def test_a_package_that_cannot_be_read_is_named(spec: Spec, wrong: str) -> None:
    with pytest.raises(BadInput, match="The notebook declares the package"):
        missing(Needs(packages=(wrong,)), spec, {})


def test_a_python_that_cannot_be_read_is_named(spec: Spec) -> None:
    with pytest.raises(BadInput, match="declares Python 'new'"):
        missing(Needs(python="new"), spec, {})


def test_variables_have_to_be_set_and_secrets_to_say_something() -> None:
    other = Spec(argv=("bash",), language="bash", name="bash")
    needs = Needs(packages=("fruit",), variables=("A", "B"), secrets=("C", "D", "A"))
    found = missing(needs, other, {"A": "", "C": "", "D": "x"})
    assert found == MissingRequirements(variables=("B", "C", "A")), "packages of other languages are not looked at"


def test_a_module_beside_the_notebook_does_not_get_in_the_way(
    spec: Spec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('not me')")
    monkeypatch.chdir(tmp_path)
    assert missing(Needs(packages=("fruit",)), spec, {}) == MissingRequirements()
