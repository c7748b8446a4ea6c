"""The templates, runs and skill that come with the repository, and what the docs show of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from quire.core.sheet.conversion import events_of
from quire.formats import registry
from quire.formats.convert import convert
from quire.formats.logbook.run_export import is_run, log_of

ROOT = Path(__file__).parents[2]
RUNS = sorted((ROOT / "logbooks" / "runs").glob("*/*.md"))
PAGE = ROOT / "docs" / "how-to" / "logbooks.md"


def front(file: Path) -> dict[str, Any]:
    return registry.read(file.read_text(), file.name).ours


def test_each_template_has_a_committed_run_and_each_run_is_named_by_its_uuid() -> None:
    templates = {path.relative_to(ROOT).as_posix() for path in (ROOT / "logbooks" / "templates").glob("*.md")}
    assert {front(file)["template"]["path"] for file in RUNS} == templates
    for file in RUNS:
        assert is_run(registry.read(file.read_text(), file.name))
        assert file.stem == front(file)["uuid"] and log_of(file.stem) is not None


def test_a_run_names_nothing_of_the_machine_that_it_was_made_on() -> None:
    for file in RUNS:
        assert not re.search(r"/(home|root|work|tmp)/", file.read_text()), file


def test_the_page_shows_both_runs_of_the_example_as_they_came_out_and_the_skill_has_them_too() -> None:
    page = PAGE.read_text()
    for name, words in (("as written", "Please greet the world."), ("extra friendly", "extra friendly")):
        shown = re.search(rf"<!-- begin: {name} -->\n\n~~~~markdown\n(.*?)~~~~\n", page, re.DOTALL)
        assert shown is not None
        text = shown[1]
        assert text in {file.read_text() for file in RUNS}
        assert words in text
        assert (ROOT / "logbooks-skill" / "runs" / f"{name.replace(' ', '_')}.md").read_text() == text
    example = "EXAMPLE_TEMPLATE.md"
    assert (ROOT / "logbooks-skill" / example).read_text() == (ROOT / "logbooks" / "templates" / example).read_text()


@pytest.mark.parametrize("file", [*(ROOT / "logbooks" / "templates").glob("*.md"), *RUNS], ids=lambda file: file.stem)
def test_a_logbook_that_is_converted_to_md_keeps_its_bytes(file: Path) -> None:
    text = file.read_text()
    sheet = registry.read(text, file.name)
    assert registry.write(sheet, file.name, like=text) == text
    assert convert(text, file.name, "copy.md") == text
    events, _ = events_of(sheet, file.stem, lambda: "x")
    assert len(events) > len(sheet.cells)
