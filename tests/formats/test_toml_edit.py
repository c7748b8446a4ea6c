"""One table of somebody else's TOML: set and taken out, and the rest stays byte for byte."""

from __future__ import annotations

import tomllib

import pytest

from quire.core.errors import BadInput
from quire.core.values import Json
from quire.formats.settings_edit.toml_edit import table, with_table, without_table

PATH = ("mcp_servers", "quire")
OURS: dict[str, Json] = {"command": "quire", "args": ["mcp", "--as", "codex"]}

SETTINGS = """\
# Mine.
model = "o9"  # the best

[mcp_servers.other]
command = "x"

[profiles."a b"]
text = '''
# three lines
'''
"""


@pytest.mark.parametrize("text", ["", "a = 1\n", SETTINGS, "[a]\r\nb = 1\r\n"])
def test_what_was_set_and_taken_out_leaves_the_text_as_it_was(text: str) -> None:
    changed = with_table(text, PATH, OURS)
    assert table(changed, PATH) == OURS and changed.startswith(text)
    assert without_table(changed, PATH) == text


def test_a_table_that_is_there_keeps_what_somebody_added() -> None:
    text = (
        '[mcp_servers.quire]\ncommand = "old"\nstartup_timeout_sec = 20\n\n'
        '[mcp_servers.quire.env]\nA = "1"\n\n# of z\n[z]\nq = 1\n'
    )
    changed = with_table(text, PATH, OURS)
    assert table(changed, PATH) == {**OURS, "startup_timeout_sec": 20, "env": {"A": "1"}}
    assert without_table(changed, PATH) == "# of z\n[z]\nq = 1\n", "the comment is not ours"


def test_what_was_written_by_another_tool_is_found_by_its_name() -> None:
    text = "[ mcp_servers . \"quire\" ] # ours\ncommand = 'old'\n"
    assert table(with_table(text, PATH, OURS), PATH) == OURS
    assert tomllib.loads(without_table(text, PATH)) == {}


@pytest.mark.parametrize(
    "text",
    [
        '[mcp_servers]\nquire = {command = "x"}\n',
        'mcp_servers.quire.command = "x"\n',
        'text = """\n[mcp_servers.quire]\n"""\n',
    ],
)
def test_what_is_written_otherwise_is_left_to_a_person(text: str) -> None:
    with pytest.raises(BadInput, match="by hand"):
        with_table(text, PATH, OURS)


def test_a_text_that_is_no_toml_is_refused_with_the_line() -> None:
    with pytest.raises(BadInput, match=r"no TOML.*line 2"):
        with_table("a = 1\nb = \n", PATH, OURS)


def test_values_of_every_kind_are_kept() -> None:
    kept = 'a = true\nb = 1.5\nc = ["x", 2]\nd = 1979-05-27T07:32:00Z\ne = "\\u00e9\\n"\n'
    text = f"[mcp_servers.quire]\n{kept}"
    assert table(with_table(text, PATH, OURS), PATH) == {**tomllib.loads(kept), **OURS}
