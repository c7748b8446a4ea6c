"""One entry of somebody else's JSON: set and taken out, and the rest stays byte for byte."""

from __future__ import annotations

import json
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core.errors import BadInput
from quire.core.values import Json
from quire.formats.settings_edit.json_edit import entry, is_empty, with_entry, without_entry

PATH = ("mcpServers", "quire")
OURS: dict[str, Json] = {"command": "quire", "args": ["mcp", "--as", "zed"]}

COMMENTED = """\
// Settings of an editor.
{
\t"theme": "dark", // not light
\t"mcpServers": {
\t\t/* the first, with a } and a "quire" in it */
\t\t"other": {"command": "x", "args": ["}", "// no comment"]}, // kept
\t},
\t"last": [1, 2,],
}
"""


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"a": 1}',
        '{ "a": 1 }',
        '{\n  "a": 1\n}\n',
        '{\n  "a": 1, // c\n}\n',
        '{\n  "mcpServers": {\n    "b": {"x": 1} // k\n  }\n}\n',
        "{\n  // nothing yet\n}\n",
        '{\r\n    "a": [1,\r\n 2]\r\n}\r\n',
        COMMENTED,
    ],
)
def test_what_was_set_and_taken_out_leaves_the_text_as_it_was(text: str) -> None:
    changed = with_entry(text, PATH, OURS)
    assert entry(changed, PATH) == OURS
    assert without_entry(changed, PATH) == text


def test_comments_and_other_entries_stay_where_they_are() -> None:
    changed = with_entry(COMMENTED, PATH, OURS)
    assert [line for line in changed.splitlines() if line in COMMENTED.splitlines()] == COMMENTED.splitlines()
    assert '\t\t"quire": {\n\t\t\t"command": "quire",\n' in changed, "indented as the rest is"
    assert entry(changed, ("mcpServers", "other", "args")) == ["}", "// no comment"]


def test_an_entry_that_is_there_is_replaced_in_its_place() -> None:
    text = '{\n  "mcpServers": {\n    "quire": {\n      "command": "old"\n    },\n    "b": {}\n  }\n}\n'
    assert with_entry(text, PATH, OURS).index('"quire"') < with_entry(text, PATH, OURS).index('"b"')
    assert json.loads(with_entry(text, PATH, OURS)) == {"mcpServers": {"quire": OURS, "b": {}}}


def test_a_comment_before_an_entry_that_goes_does_not_swallow_what_comes_after() -> None:
    text = '{"mcpServers": { // ours\n "quire": {}, "b": 1 }, "c": 2}'
    gone = without_entry(text, PATH)
    assert entry(gone, ("mcpServers", "b")) == 1 and entry(gone, ("c",)) == 2 and "// ours" in gone


def test_nothing_becomes_a_whole_text_and_goes_again() -> None:
    made = with_entry("", PATH, OURS)
    assert json.loads(made) == {"mcpServers": {"quire": OURS}} and made.endswith("}\n")
    assert is_empty(without_entry(made, PATH))
    assert not is_empty("{ /* a comment */ }")


def test_what_is_not_there_is_not_taken_out() -> None:
    assert without_entry(COMMENTED, PATH) == COMMENTED
    assert entry("[1]", PATH) is None and entry('{"mcpServers": 1}', PATH) is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', "line 3: a ',' is missing"),
        ('{"a": }', "line 1: a value is missing"),
        ("{a: 1}", "a name in quotes is missing"),
        ('{"a": 1} x', "something stands after the end"),
        ('{"a": /* 1}', "a value is missing"),
        ("[" * 1000, "nested too deeply"),
    ],
)
def test_a_text_that_is_no_json_is_refused_with_the_line(text: str, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        with_entry(text, PATH, OURS)


@pytest.mark.parametrize("text", ["[]", '{"mcpServers": []}', '{"mcpServers": null}'])
def test_what_is_no_object_takes_no_entry(text: str) -> None:
    with pytest.raises(BadInput, match="is no object"):
        with_entry(text, PATH, OURS)


names = st.sampled_from(["a", "mcpServers", "quire", "x y", '"'])
values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text('a",}/*\n', max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.generated
@given(st.dictionaries(names, values, max_size=4), st.sampled_from([None, 1, 2, "\t"]))
def test_whatever_the_text_only_the_entry_changes(value: dict[str, Json], indent: int | str | None) -> None:
    text = json.dumps(value, indent=indent)
    there = value.get("mcpServers", {})
    if not isinstance(there, dict):
        with pytest.raises(BadInput):
            with_entry(text, PATH, OURS)
        return
    inner = cast("dict[str, Json]", there)
    assert json.loads(with_entry(text, PATH, OURS)) == {**value, "mcpServers": {**inner, "quire": OURS}}
    rest = {key: each for key, each in inner.items() if key != "quire"}
    left = json.loads(without_entry(text, PATH))
    wanted = {**value, "mcpServers": rest} if rest or "quire" not in inner else {**value}
    if "quire" in inner and not rest:
        del wanted["mcpServers"]
    assert left == (wanted if "mcpServers" in value else value)
