"""The variables of a kernel, and `.env` files as people write them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core.errors import BadInput
from quire.kernels.env_file import parse, variables


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("", {}),
        ("A=1", {"A": "1"}),
        ("A=1\r\nB=2\r\n", {"A": "1", "B": "2"}),
        ("\ufeffA=1\n", {"A": "1"}),
        ("# A=1\n\n  \n\tB=2\n", {"B": "2"}),
        ("export A=1\nexport  B = 2\n", {"A": "1", "B": "2"}),
        ("A=two words # and a comment", {"A": "two words"}),
        ("A=a#b\nB= # nothing\nC=#\n", {"A": "a#b", "B": "", "C": ""}),
        ("A='a # b' # c\nB=\"a # b\"# c", {"A": "a # b", "B": "a # b"}),
        ('A=\'a\\n$B\'\nB="a\\n\\t\\\\\\"\\$C\\q"', {"A": "a\\n$B", "B": 'a\n\t\\"$C\\q'}),
        ("A='one\ntwo'\nB=\"one\ntwo\"\nC=3", {"A": "one\ntwo", "B": "one\ntwo", "C": "3"}),
        ("A=$HOME/${B}`c`", {"A": "$HOME/${B}`c`"}),
        ("A=1\nA=2", {"A": "2"}),
        ("A=é\U0001f98a\nB=a=b=c", {"A": "é\U0001f98a", "B": "a=b=c"}),
    ],
)
def test_a_file_says_what_it_seems_to_say(text: str, values: dict[str, str]) -> None:
    assert parse(text) == (values, ())


@pytest.mark.parametrize(
    ("text", "values", "unread"),
    [
        ("A\nB=1", {"B": "1"}, (1,)),
        ("B=1\nset -a\nC=1", {"B": "1", "C": "1"}, (2,)),
        ("A='it''s'\nB=1", {"B": "1"}, (1,)),
        ('A="never closed\nB=1', {"B": "1"}, (1,)),
        ("1A=1\nB-C=1\n=1\n", {}, (1, 2, 3)),
        ("A='x\0'\nB=1", {"B": "1"}, (1,)),
        ("A='1\n2'\n?\n", {"A": "1\n2"}, (3,)),
    ],
)
def test_lines_that_say_nothing_are_counted(text: str, values: dict[str, str], unread: tuple[int, ...]) -> None:
    assert parse(text) == (values, unread)


@pytest.mark.generated
@given(st.text("A=\"'\\# \n\tx$", max_size=40))
def test_any_text_is_read_without_a_fault(text: str) -> None:
    values, unread = parse(text)
    assert all(name.isidentifier() for name in values)
    assert list(unread) == sorted(set(unread))
    assert all(1 <= line <= text.count("\n") + 1 for line in unread)


@pytest.mark.generated
@given(st.dictionaries(st.from_regex(r"\A[A-Z]{1,3}\Z"), st.text("ab'\"\\\n#$ é", max_size=8), max_size=4))
def test_what_is_quoted_comes_back(values: dict[str, str]) -> None:
    def quoted(value: str) -> str:
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'

    assert parse("".join(f"{name}={quoted(value)}\n" for name, value in values.items())) == (values, ())


def test_the_callers_variables_win_and_the_file_adds_to_them(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A=file\nB=file\n?\n")
    found = variables(tmp_path, {"A": "caller", "C": ""})
    assert found.env == {"A": "caller", "B": "file", "C": ""}
    assert (found.path, found.names, found.unread) == (tmp_path / ".env", ("B",), (3,))


def test_the_nearest_file_is_read_and_none_from_outside_the_repository(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A=outside\n")
    inner = tmp_path / "repository" / "a" / "b"
    inner.mkdir(parents=True)
    assert variables(inner, {}).env == {"A": "outside"}
    (tmp_path / "repository" / ".git").mkdir()
    assert variables(inner, {}).env == {}
    (tmp_path / "repository" / ".env").write_text("A=root\n")
    assert variables(inner, {}).env == {"A": "root"}
    (inner / ".env").mkdir()
    assert variables(inner, {}).env == {"A": "root"}, "a folder of that name is an environment, not a file"
    (inner.parent / ".env").write_text("B=near\n")
    assert variables(inner, {}).env == {"B": "near"}


def test_bytes_that_are_no_text_are_passed_on(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"A=\xff\n")
    assert variables(tmp_path, {}).env["A"].encode("utf-8", "surrogateescape") == b"\xff"


def test_a_file_that_is_no_list_of_variables_is_named(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"x" * 1_000_001)
    with pytest.raises(BadInput, match=r"\.env is larger than 1000 kB"):
        variables(tmp_path, {})
