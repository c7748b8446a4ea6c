"""What is a step of a logbook, and what is not."""

from __future__ import annotations

from quire.formats import registry
from quire.logbooks.template_steps import kind_of, marked, prose_parts


def kinds(text: str, *, by_steps: bool = True) -> list[tuple[str, str]]:
    sheet = marked(registry.read(text, "x.md"), by_steps=by_steps)
    return [(kind_of(cell), cell.source.split("\n")[0]) for cell in sheet.cells]


def test_code_is_a_step_and_so_is_prose_that_no_code_of_its_section_answers() -> None:
    text = (
        "# Title\n\nWhat for.\n\n## One\n\nDo this:\n\n```python\n1\n```\n\nLook at it.\n\n## Two\n\nWrite a summary.\n"
    )
    assert kinds(text) == [
        ("text", "# Title"),
        ("text", "## One"),
        ("code", "1"),
        ("prose", "Look at it."),
        ("prose", "## Two"),
    ]


def test_without_anybody_prose_is_kept_and_asks_for_nothing() -> None:
    text = "# Title\n\n## One\n\nDo this.\n\n```python\n1\n```\n"
    assert kinds(text, by_steps=False) == [("text", "# Title"), ("code", "1")]


def test_a_heading_alone_is_no_step_and_a_hash_in_a_fence_is_no_heading() -> None:
    assert kinds("## One\n\n## Two\n\n```text\n# no heading\n```\n\nRead this.\n") == [
        ("text", "## One"),
        ("prose", "## Two"),
    ]
    assert len(prose_parts("## A\n\n```text\n# b\n```\n\n## C\n\ntext")) == 2


def test_prose_that_is_parted_is_whole_when_its_parts_are_joined() -> None:
    text = "# A\n\nb\n\n## C\n\nd\ne\n\n### F\n\ng"
    assert "\n\n".join(part.text for part in prose_parts(text)) == text
