"""Stripping, beside the real nbstripout."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core.errors import BadInput
from quire.core.ids import CellId
from quire.core.sheet.sheet import Sheet, SheetCell
from quire.formats import registry
from quire.formats.strip import DEFAULT_KEYS, Rules, strip

from ..corpus import IPYNB, SURROGATES, for_each, text_of

# Another version when anything changes, and ids that are the same: the ways we differ on purpose.
COMPARABLE = [path for path in IPYNB if path.name not in {"nbformat-3.ipynb", "same-ids.ipynb"} | SURROGATES]
NBSTRIPOUT: Any = import_module("nbstripout")


def stripped(text: str, rules: Rules | None = None) -> str:
    """The text of a notebook, stripped by us."""
    sheet = registry.read(text, "a.ipynb")
    return registry.write(strip(sheet, rules, "a.ipynb"), "a.ipynb", like=text)


def theirs(text: str, rules: Rules | None = None) -> Any:
    """The notebook, stripped by nbstripout the way its command line would."""
    rules = rules or Rules()
    keys = [key for key in (*DEFAULT_KEYS, *rules.extra_keys) if key not in rules.keep_metadata_keys]
    return NBSTRIPOUT.strip_output(
        nodes(text),
        keep_output=rules.keep_output or None,
        keep_count=rules.keep_count,
        keep_id=rules.keep_id,
        extra_keys=keys,
        drop_empty_cells=rules.drop_empty_cells,
        drop_tagged_cells=list(rules.drop_tagged_cells),
        strip_init_cells=rules.strip_init_cells,
        drop_output_types=set(rules.drop_output_types),
        keep_output_types=set(rules.keep_output_types),
        max_size=rules.max_size,
    )


def nodes(text: str) -> Any:
    """The notebook as nbformat reads it."""
    nbformat: Any = import_module("nbformat")
    with warnings.catch_warnings():
        # Notebooks that nbformat finds fault with are read all the same.
        warnings.simplefilter("ignore")
        return nbformat.reads(text, as_version=nbformat.NO_CONVERT)


def notebook(*cells: dict[str, Any], **metadata: Any) -> str:
    whole: list[dict[str, Any]] = [
        {"id": f"cell-{number}", "metadata": {}, "source": "x"} | cell for number, cell in enumerate(cells)
    ]
    return json.dumps({"cells": whole, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


def code(*outputs: dict[str, Any], count: int | None = 1, **fields: Any) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": count, "outputs": list(outputs), **fields}


HELLO = {"output_type": "stream", "name": "stdout", "text": ["hello\n", "world\n"]}
OUCH = {"output_type": "error", "ename": "E", "evalue": "ouch", "traceback": ["a", "b"]}
SEVEN = {"output_type": "execute_result", "execution_count": 1, "data": {"text/plain": "7"}, "metadata": {}}


# ---- The same as nbstripout


@for_each(COMPARABLE)
def test_a_notebook_is_stripped_of_what_nbstripout_strips(path: Path) -> None:
    text = text_of(path)
    assert nodes(stripped(text)) == theirs(text)


def test_the_command_line_of_nbstripout_removes_the_same_by_default(tmp_path: Path) -> None:
    file = tmp_path / "a.ipynb"
    everything = {key.rpartition(".")[2]: True for key in DEFAULT_KEYS} | {"other": 1}
    file.write_text(notebook(code(HELLO, SEVEN, metadata=everything), **everything))
    done = subprocess.run(
        [sys.executable, "-m", "nbstripout", "-t", "--keep-id", file], capture_output=True, check=True
    )
    assert nodes(done.stdout.decode()) == nodes(stripped(file.read_text()))


RULES = {
    "keep-output": Rules(keep_output=True),
    "keep-count": Rules(keep_count=True),
    "keep-output-and-count": Rules(keep_output=True, keep_count=True),
    "number-id": Rules(keep_id=False),
    "keep-metadata-keys": Rules(keep_metadata_keys=("cell.metadata.collapsed", "metadata.widgets")),
    "extra-keys": Rules(
        extra_keys=("metadata.a.b", "metadata.kernelspec", "cell.metadata.tags", "cell.metadata.x.y.z")
    ),
    "extra-keys-elsewhere": Rules(extra_keys=("cell.attachments", "cell.unknown.a", "cell.metadata.name")),
    "drop-empty-cells": Rules(drop_empty_cells=True),
    "drop-tagged-cells": Rules(drop_tagged_cells=("draft",)),
    "strip-init-cells": Rules(strip_init_cells=True),
    "keep-output-types": Rules(keep_output_types=("error", "stream:stderr")),
    "drop-output-types": Rules(keep_output=True, drop_output_types=("stream:stdout", "error")),
    "max-size": Rules(max_size=30),
}


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_every_flag_does_what_it_does_in_nbstripout(rules: Rules) -> None:
    errors = {"output_type": "stream", "name": "stderr", "text": "oh"}
    long = {
        "output_type": "display_data",
        "data": {"text/plain": "x" * 40, "application/json": [1, None]},
        "metadata": {},
    }
    metadata = {"collapsed": True, "name": "load", "x": {"y": {"z": 1, "w": 2}, "y.z": 3}}
    text = notebook(
        code(HELLO, OUCH, SEVEN, errors, long, metadata=metadata),
        code(HELLO, SEVEN, metadata={"init_cell": True}),
        code(HELLO, metadata={"init_cell": False, "tags": ["keep_output"]}),
        code(HELLO, metadata={"keep_output": True, "tags": ["draft"]}),
        code(SEVEN, metadata={"tags": ["keep_output", "b"]}),
        code(HELLO, metadata={"keep_output": False}, source=" \n\t"),
        {"cell_type": "markdown", "attachments": {"a.png": {"image/png": "AA"}}, "unknown": {"a": 1, "b": 2}},
        {"cell_type": "raw", "source": ""},
        a={"b": {"c": 1}, "d": 2},
        kernelspec={"name": "python3", "display_name": "Python"},
        widgets={"state": {}},
        signature="abc",
    )
    assert nodes(stripped(text, rules)) == theirs(text, rules)


TAGS = st.lists(st.sampled_from(["keep_output", "draft", "b"]), max_size=2, unique=True)
KEYS = st.sampled_from(
    ["metadata.a", "metadata.a.b", "cell.metadata.a", "cell.metadata.a.b", "cell.metadata.collapsed"]
)
SOME_METADATA = st.fixed_dictionaries(
    {},
    optional={
        "a": st.sampled_from([1, {"b": 1}, {"b": {"c": 1}, "d": 2}]),
        "collapsed": st.booleans(),
        "init_cell": st.booleans(),
        "keep_output": st.booleans(),
    },
)


def _tagged(outputs: list[dict[str, Any]], count: int | None, metadata: Any, tags: list[str], source: str) -> Any:
    return code(*outputs, count=count, metadata=metadata | ({"tags": tags} if tags else {}), source=source)


CODE = st.builds(
    _tagged,
    st.lists(st.sampled_from([HELLO, OUCH, SEVEN]), max_size=3),
    st.sampled_from([None, 1, 20]),
    SOME_METADATA,
    TAGS,
    st.text("x \n", max_size=3),
)
ANY_RULES = st.builds(
    Rules,
    keep_output=st.booleans(),
    keep_count=st.booleans(),
    keep_id=st.booleans(),
    keep_metadata_keys=st.lists(KEYS, max_size=2).map(tuple),
    extra_keys=st.lists(KEYS, max_size=3).map(tuple),
    drop_empty_cells=st.booleans(),
    drop_tagged_cells=st.sampled_from([(), ("draft",)]),
    strip_init_cells=st.booleans(),
    keep_output_types=st.sampled_from([(), ("error",), ("stream:stdout",)]),
    drop_output_types=st.sampled_from([(), ("error",), ("stream:stderr",)]),
    max_size=st.sampled_from([0, 20, 30]),
)


@pytest.mark.generated
@given(st.lists(CODE, max_size=4), SOME_METADATA, ANY_RULES)
def test_any_notebook_is_stripped_the_same_by_any_rules(
    cells: list[dict[str, Any]], metadata: dict[str, Any], rules: Rules
) -> None:
    text = notebook(*cells, **metadata)
    try:
        expected = theirs(text, rules)
    except NBSTRIPOUT.MetadataError:
        with pytest.raises(BadInput, match="Remove one of the two"):
            stripped(text, rules)
        return
    assert nodes(stripped(text, rules)) == expected


# ---- What we do differently


def test_ids_stay_since_diff_and_merge_tell_cells_by_them() -> None:
    text = notebook(code(id="abc"))
    assert nodes(stripped(text)).cells[0].id == "abc"
    assert nodes(stripped(text, Rules(keep_id=False))).cells[0].id == "0"


def test_cells_with_any_of_several_tags_are_dropped() -> None:
    text = notebook(code(metadata={"tags": ["a"]}), code(metadata={"tags": ["b"]}), code())
    kept = nodes(stripped(text, Rules(drop_tagged_cells=("a", "b")))).cells
    assert [cell.id for cell in kept] == ["cell-2"]


@pytest.mark.parametrize("key", ["foo", "metadata.", "cell.source", "cell.outputs", "output.metadata"])
def test_a_key_that_cannot_be_removed_is_refused(key: str) -> None:
    with pytest.raises(BadInput, match=r"metadata\.NAME"):
        strip(Sheet(), Rules(extra_keys=(key,)))


def test_a_cell_that_loses_all_its_metadata_is_still_a_cell() -> None:
    text = notebook(code(metadata={"a": 1, "tags": ["b"], "name": "c"}))
    assert nodes(stripped(text, Rules(extra_keys=("cell.metadata",)))).cells[0].metadata == {}


def test_a_cell_that_contradicts_itself_is_named() -> None:
    text = notebook(code(HELLO, id="odd", metadata={"keep_output": False, "tags": ["keep_output"]}))
    with pytest.raises(BadInput, match=r"a\.ipynb: cell odd: .* Remove one of the two"):
        stripped(text)


def test_outputs_of_a_cell_that_should_have_none_go_as_well() -> None:
    text = notebook({"cell_type": "markdown", "outputs": [HELLO], "execution_count": 3})
    assert "hello" not in stripped(text)
    assert '"execution_count": 3' not in stripped(text)


def test_what_the_kernel_said_of_itself_goes_where_the_language_is_known_without_it() -> None:
    rules = Rules(keep_kernel=False)
    python = {"language_info": {"name": "python", "version": "3.11.2"}}
    known = {"kernelspec": {"name": "ir", "language": "R"}, "language_info": {"name": "R", "version": "4.3"}}
    unknown = {"kernelspec": {"name": "ir"}, "language_info": {"name": "R", "version": "4.3"}}
    assert strip(Sheet(metadata=python), rules).metadata == {}
    assert strip(Sheet(metadata=known), rules).metadata == {"kernelspec": known["kernelspec"]}
    assert strip(Sheet(metadata=unknown), rules).metadata == unknown | {"language_info": {"name": "R"}}
    kept = Rules(keep_kernel=False, keep_metadata_keys=("metadata.language_info",))
    assert strip(Sheet(metadata=python), kept).metadata == python


# ---- And


@pytest.mark.generated
@given(st.lists(CODE, max_size=4), SOME_METADATA, ANY_RULES)
def test_what_is_stripped_has_nothing_left_to_strip(
    cells: list[dict[str, Any]], metadata: dict[str, Any], rules: Rules
) -> None:
    try:
        once = strip(registry.read(notebook(*cells, **metadata), "a.ipynb"), rules)
    except BadInput:
        return
    assert strip(once, rules) is once


@for_each(COMPARABLE)
def test_nothing_but_what_goes_changes_its_bytes(path: Path) -> None:
    text = text_of(path)
    once = stripped(text)
    assert stripped(once) == once
    # Line by line, so not where all is in one line. A comma more or less is all a neighbour may notice.
    if path.name != "compact.ipynb":
        new = {line.strip(" \t,") for line in once.splitlines()} - {line.strip(" \t,") for line in text.splitlines()}
        assert all(line.endswith(("[]", "null", "{}")) for line in new), new


def test_a_note_about_a_conflict_goes_once_the_conflict_is_resolved() -> None:
    note = {"quire": {"conflict": {"marker": 7}}}
    open_one = "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n"
    sheet = Sheet(
        cells=(
            SheetCell(id=CellId("a"), source="a\n", metadata=note),
            SheetCell(id=CellId("b"), source=open_one, metadata=note),
        )
    )
    resolved, unresolved = strip(sheet).cells
    assert resolved.metadata == {}
    assert unresolved.metadata == note


# ---- The command


QUIRE = str(Path(sys.executable).with_name("quire"))


def run(*arguments: str | Path, at: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([QUIRE, "strip", *map(str, arguments)], cwd=at, input=stdin, capture_output=True, text=True)


def test_strip_says_what_it_changed_and_check_only_looks(tmp_path: Path) -> None:
    dirty, tidy = notebook(code(HELLO)), notebook(code(count=None))
    for name, text in {"dirty.ipynb": dirty, "tidy.ipynb": tidy, "script.py": "# %%\n1\n"}.items():
        (tmp_path / name).write_text(text)
    everything = ("dirty.ipynb", "tidy.ipynb", "script.py")
    looked = run("--check", *everything, at=tmp_path)
    assert (looked.returncode, looked.stdout, looked.stderr) == (1, "", "Not stripped: dirty.ipynb\n")
    assert run("--dry-run", *everything, at=tmp_path).returncode == 0
    assert (tmp_path / "dirty.ipynb").read_text() == dirty
    done = run("--json", *everything, at=tmp_path)
    assert json.loads(done.stdout) == {
        "changed": ["dirty.ipynb"],
        "unchanged": ["tidy.ipynb", "script.py"],
        "written": True,
    }
    assert "hello" not in (tmp_path / "dirty.ipynb").read_text()
    again = run("--check", *everything, at=tmp_path)
    assert (again.returncode, again.stderr) == (0, "Nothing to strip in 3 files.\n")


def test_strip_reads_standard_input_and_knows_the_flags(tmp_path: Path) -> None:
    text = notebook(code(HELLO, SEVEN, metadata={"tags": ["a"]}), code(OUCH))
    done = run("-", "--keep-output-type", "error", "--max-size", "0.1k", at=tmp_path, stdin=text)
    assert done.returncode == 2
    assert "'0.1k' is no size" in done.stderr
    done = run("--drop-tagged-cells", "b a", "--keep-output-type", "error", "--keep-count", at=tmp_path, stdin=text)
    (left,) = nodes(done.stdout).cells
    assert (left.outputs[0].ename, left.execution_count) == ("E", 1)
    assert run("-", "--json", at=tmp_path, stdin=text).returncode == 2


def test_when_one_notebook_cannot_be_read_none_is_written(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text(notebook(code(HELLO)))
    (tmp_path / "b.ipynb").write_text("{")
    done = run("a.ipynb", "b.ipynb", at=tmp_path)
    assert done.returncode == 2
    assert "b.ipynb ends too early" in done.stderr
    assert (tmp_path / "a.ipynb").read_text() == notebook(code(HELLO))
    (tmp_path / "a.bak").write_text(notebook(code(HELLO)))
    assert run("a.bak", at=tmp_path).returncode == 2
    assert run("--force", "a.bak", at=tmp_path).returncode == 0
    assert "hello" not in (tmp_path / "a.bak").read_text()
