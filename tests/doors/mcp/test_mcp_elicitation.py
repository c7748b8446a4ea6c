"""A person is asked for what a logbook needs and an agent did not give, where the agent's client can show a form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mcp_types import ElicitResult

from ...journeys.live_runtimes import end_runtimes
from ...logbooks.template_texts import write_template
from .agents import over_stdio

TEMPLATE = """\
---
parameters:
  name: {help: whom to greet}
  top: {type: int}
---

## Judge

Say whether {name} is among the first {top}.
"""


def test_what_an_agent_did_not_give_is_asked_of_the_person_and_refused_by_name_on_a_no(tmp_path: Path) -> None:
    write_template(tmp_path, TEMPLATE, "judge")
    shown: list[Any] = []

    async def answer(ctx: Any, params: Any) -> ElicitResult:
        shown.append(params.requested_schema)
        yes = len(shown) == 1
        return ElicitResult(action="accept", content={"top": 3}) if yes else ElicitResult(action="decline")

    try:
        with over_stdio(tmp_path, mode="legacy", asked=answer) as agent:
            began = agent.facts("run", notebook="judge", parameters={"name": "Ada"}, request="Judge.")
            assert began["logbook"]["open"] == 1
            assert "Say whether Ada is among the first 3." in (tmp_path / began["file"]).read_text()
            assert "parameters 'name', 'top' have no values" in agent.refused("run", notebook="judge", request="Judge.")
    finally:
        end_runtimes(tmp_path)
    assert [each["properties"] for each in shown] == [
        {"top": {"type": "integer"}},
        {"name": {"type": "string", "description": "whom to greet"}, "top": {"type": "integer"}},
    ]


def test_where_nobody_can_be_asked_what_is_missing_is_refused_by_name(tmp_path: Path) -> None:
    write_template(tmp_path, TEMPLATE, "judge")
    with over_stdio(tmp_path, mode="legacy") as agent:
        assert "parameter 'top' has no value" in agent.refused(
            "run", notebook="judge", parameters={"name": "Ada"}, request="Judge."
        )
