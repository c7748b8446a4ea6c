"""The table of tools: small, true to what is accepted, and each with an example that works."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import jsonschema
import pytest

from quire.core.errors import BadInput
from quire.doors.mcp.tool_call import read_arguments
from quire.doors.mcp.tools import INSTRUCTIONS, TOOLS, Tool, sent
from quire.verbs.arguments import ControlArguments, EditArguments, ReadArguments, RunArguments

each_tool = pytest.mark.parametrize("tool", TOOLS.values(), ids=list(TOOLS))


def test_there_are_nine_at_most_and_together_they_are_under_twelve_thousand_characters():
    assert len(TOOLS) <= 9
    assert sum(len(json.dumps(sent(tool), ensure_ascii=False)) for tool in TOOLS.values()) < 12_000
    assert len(INSTRUCTIONS) <= 800


@each_tool
def test_a_description_ends_with_an_example_that_both_the_schema_and_the_tool_accept(tool: Tool):
    said, _, example = tool.description.partition("\nExample: ")
    assert said
    assert json.loads(example) == tool.example
    jsonschema.Draft202012Validator.check_schema(tool.schema)
    jsonschema.validate(tool.example, tool.schema)
    assert isinstance(read_arguments(tool, tool.example), tool.wanted)


@each_tool
def test_a_schema_names_every_argument_and_says_which_are_needed(tool: Tool):
    assert set(tool.schema["properties"]) == set(tool.wanted.__struct_fields__)
    assert "$ref" not in json.dumps(tool.schema), "some clients do not follow references"
    assert "title" not in tool.schema


def test_the_seven_operations_are_spelt_out_where_they_are_needed():
    edits = TOOLS["edit"].schema["properties"]["edits"]
    operations = [each["properties"]["op"]["const"] for each in edits["items"]["anyOf"]]
    assert operations == ["replace", "patch", "insert", "delete", "move", "tag", "step"]
    assert TOOLS["propose"].schema["properties"]["edits"]["description"] == "As in edit."


# ---- Arguments


def wrong(tool: str, **arguments: Any) -> str:
    with pytest.raises(BadInput) as raised:
        read_arguments(TOOLS[tool], arguments)
    told = str(raised.value)
    assert told.startswith(f"{tool}: ")
    assert "Example: {" in told
    return told


def test_what_is_missing_or_unknown_is_named():
    assert "missing required field `notebook`" in wrong("read")
    assert "unknown field `notebok`. Did you mean `notebook`?" in wrong("read", notebok="a")
    assert "Known: notebook, view" in wrong("read", notebook="a", zzzzzzzzzz=1)


def test_a_wrong_type_is_named_with_its_place():
    assert "Expected `int`, got `str` at `budget`" in wrong("read", notebook="a", budget="much")
    edits = [{"op": "patch", "cell": "a", "old": "x", "new": 5}]
    assert "Expected `str`, got `int` at `edits[0].new`" in wrong("edit", notebook="a", edits=edits)
    assert "Expected `array`, got `str` at `edits`" in wrong("edit", notebook="a", edits="x = 1")


def test_a_wrong_choice_is_answered_with_the_right_ones():
    assert "Known: replace, patch, insert, delete, move, tag, step." in wrong(
        "edit", notebook="a", edits=[{"op": "repalce"}]
    )
    assert "Known: answer, archive," in wrong("control", notebook="a", action="explode")


def test_what_is_repeated_of_a_wrong_value_is_short():
    assert len(wrong("control", notebook="a", action="x" * 1_000_000)) < 1_000


@pytest.mark.parametrize("budget", [99, 50_001, -1, 1e300])
def test_a_budget_has_limits(budget: float):
    assert "`budget`" in wrong("read", notebook="a", budget=budget)


def test_half_a_character_is_no_text():
    assert "surrogate" in wrong("execute", notebook="a", code="x = '\ud800'")


def test_nesting_has_an_end():
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    assert "nested too deeply" in wrong("run", notebook="a", parameters={"a": deep})


def test_numbers_name_cells_as_their_text_does_and_null_is_not_given():
    read = read_arguments(TOOLS["read"], {"notebook": "a", "cells": [3, "c5aq"], "since": None, "budget": 500.0})
    assert read == ReadArguments(notebook="a", cells=("3", "c5aq"), budget=500)
    edit = read_arguments(
        TOOLS["edit"], {"notebook": "a", "edits": [{"op": "move", "cell": 3, "after": 5}], "run": [3]}
    )
    assert isinstance(edit, EditArguments)
    assert edit.run == ("3",)
    assert read_arguments(TOOLS["control"], {"notebook": "a", "action": "interrupt", "cell": 3}) == ControlArguments(
        notebook="a", action="interrupt", cell="3"
    )


def test_parameters_stay_what_they_are():
    run = read_arguments(TOOLS["run"], {"notebook": "a", "parameters": {"cell": 3, "at": 2.0, "none": None}})
    assert run == RunArguments(notebook="a", parameters={"cell": 3, "at": 2.0, "none": None})


# ---- What is loaded


def test_neither_the_help_nor_a_server_loads_the_protocol():
    loaded = (
        "import sys, quire.doors.cli.main, quire.doors.cli.server.serve_verb, quire.doors.cli.server.mcp_verb, quire.doors.http.app, "
        "quire.doors.mcp.tool_call; print([name for name in sys.modules if name.split('.')[0] in ('mcp', 'pydantic')])"
    )
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
