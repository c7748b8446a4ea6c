"""Which packages a kernel has, read from the folders that it imports from."""

from __future__ import annotations

import os
from importlib.metadata import distributions
from pathlib import Path

import pytest

from quire.kernels.requirements import QUESTION, InstalledPackages, as_json, read_answer, read_versions


def package(folder: Path, name: str, version: str, stem: str | None = None) -> Path:
    """A package's metadata, as pip leaves it."""
    place = folder / f"{stem or f'{name}-{version}'}.dist-info"
    place.mkdir(parents=True, exist_ok=True)
    (place / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nName: a word\n")
    return place


def test_the_packages_are_those_that_python_itself_finds() -> None:
    import sys

    theirs = {
        each.metadata["Name"].lower().replace("_", "-").replace(".", "-"): each.version for each in distributions()
    }
    assert InstalledPackages().versions(sys.path, Path.cwd()) == theirs


def test_what_stands_first_counts_and_names_are_written_alike(tmp_path: Path) -> None:
    package(tmp_path / "near", "Some_Thing", "2.0")
    package(tmp_path / "far", "some.thing", "1.0")
    package(tmp_path / "far", "other", "3.1")
    folders = ["near", str(tmp_path / "far"), "nowhere", str(tmp_path / "no.zip")]
    found = InstalledPackages().versions(folders, tmp_path)
    assert found == {"some-thing": "2.0", "other": "3.1"}
    assert read_versions(as_json(found)) == found
    assert as_json(found) == as_json(dict(reversed(found.items())))


def test_metadata_of_any_make_is_read(tmp_path: Path) -> None:
    package(tmp_path, "plain", "1.0", stem="plain")
    (tmp_path / "named-4.5-py3.11.egg-info").mkdir()
    (tmp_path / "old-0.9.egg-info").write_text("Name: old\r\nVersion: 0.9.post1\r\n")
    (tmp_path / "~ip-1.dist-info").mkdir()
    (tmp_path / "broken.dist-info").mkdir()
    found = InstalledPackages().versions([str(tmp_path)], tmp_path)
    assert found == {"plain": "1.0", "named": "4.5", "old": "0.9.post1", "~ip": "1"}


def test_a_package_that_is_installed_later_is_noticed(tmp_path: Path) -> None:
    package(tmp_path, "one", "1.0")
    os.utime(tmp_path, ns=(0, 0))
    packages = InstalledPackages()
    assert packages.versions([str(tmp_path)], tmp_path) == {"one": "1.0"}
    package(tmp_path, "two", "1.0")
    assert packages.versions([str(tmp_path)], tmp_path) == {"one": "1.0", "two": "1.0"}


def test_a_kernel_says_where_it_imports_from_and_leaves_no_name_behind() -> None:
    names: dict[str, object] = {}
    said = eval(QUESTION, names)
    assert set(names) == {"__builtins__"}
    found = read_answer({"python": {"status": "ok", "data": {"text/plain": repr(said)}}}, "python")
    assert found is not None
    assert (found.facts["python"], found.implementation) == (
        ".".join(map(str, __import__("sys").version_info[:3])),
        "cpython",
    )


@pytest.mark.parametrize(
    "answers",
    [
        None,
        {},
        {"python": {"status": "error"}},
        {"python": {"data": {"text/plain": "1"}}},
        {"python": {"data": {"text/plain": "'['"}}},
    ],
)
def test_an_answer_that_is_none_is_taken_for_none(answers: object) -> None:
    """Kernels of others answer what they like."""
    assert read_answer(answers, "python") is None
    assert read_versions(b'{"a": 1}') == {}
