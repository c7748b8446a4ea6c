"""Templates as files: found by name or path, refused with the reason, made, checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from quire.core.errors import BadInput, Conflict, NotFound
from quire.logbooks.template_check import check_template
from quire.logbooks.template_files import find_root, find_template, new_template, read_template

from .template_texts import GREET, write_template

ROOT = Path(__file__).parents[2]


def faults(root: Path, text: str) -> list[tuple[str, int, str]]:
    return [(each.severity, each.line, each.message) for each in check_template(root, write_template(root, text))]


def test_a_template_is_found_by_its_name_and_by_its_path_from_anywhere_below(tmp_path: Path) -> None:
    file = write_template(tmp_path)
    (tmp_path / "src").mkdir()
    assert find_root(tmp_path / "src", Path("/")) == tmp_path
    assert find_template(tmp_path, "greet") == find_template(tmp_path, "greet.md") == file
    assert find_template(tmp_path, "logbooks/templates/greet.md", tmp_path / "src") == file
    assert find_template(tmp_path, "../logbooks/templates/greet.md", tmp_path / "src").samefile(file)
    with pytest.raises(NotFound, match="Nearest: greet"):
        find_template(tmp_path, "gret")


def test_two_templates_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    one, two = (write_template(tmp_path, name=name) for name in ("a/greet", "b/greet"))
    assert (find_template(tmp_path, "a/greet"), find_template(tmp_path, "b/greet")) == (one, two)
    with pytest.raises(BadInput, match="Several templates"):
        find_template(tmp_path, "greet")


def test_a_template_without_frontmatter_is_refused_with_what_to_write(tmp_path: Path) -> None:
    file = write_template(tmp_path, "# Greet\n\n```python\n1\n```\n")
    with pytest.raises(BadInput, match=r"has no frontmatter.*parameters: \{\}"):
        read_template(tmp_path, file)
    assert faults(tmp_path, "# Greet\n")[0][:2] == ("error", 1)


def test_a_new_template_has_no_fault_and_one_that_is_there_stays(tmp_path: Path) -> None:
    file = new_template(tmp_path, "rotate_keys", "Rotate the keys of a service.")
    assert check_template(tmp_path, file) == []
    assert read_template(tmp_path, file).title == "Rotate the keys of a service"
    with pytest.raises(Conflict, match="is there already"):
        new_template(tmp_path, "rotate_keys", "")
    with pytest.raises(BadInput, match="name is letters"):
        new_template(tmp_path, "../away", "")


def test_what_is_wrong_with_a_template_is_told_with_its_line(tmp_path: Path) -> None:
    assert faults(tmp_path, GREET) == []
    assert faults(tmp_path, GREET.replace("{name}!", "{nam}!").replace("whether {name}", "whether {nmae}"))[-1][
        2
    ].startswith("{nmae} names no parameter")
    assert ("error", 10, "This is no Python: '(' was never closed.") in faults(tmp_path, GREET.replace('!")', '!"'))
    assert any("never closed" in told for _, _, told in faults(tmp_path, GREET + "\n## Then\n\n```python\n1\n"))
    assert any("used nowhere" in told for _, _, told in faults(tmp_path, GREET.replace("  name:", "  top: 5\n  name:")))
    assert faults(tmp_path, "---\nparameters: {}\n---\n# Title\n")[0][2].startswith("It has no step")
    assert any(
        "leads out" in told for _, _, told in faults(tmp_path, GREET.replace("---\n\n#", "product: ../x\n---\n\n#"))
    )


def test_the_templates_of_this_repository_have_no_fault() -> None:
    for file in (ROOT / "logbooks" / "templates").glob("*.md"):
        assert check_template(ROOT, file) == [], file
