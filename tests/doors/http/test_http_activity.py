"""What was done in a notebook, what is new in it for somebody, and how far they have seen it."""

from __future__ import annotations

from typing import Any

import pytest

from quire.core import events as e
from quire.core.ids import ActorId, CellId, LogId
from quire.core.text import Splice, source_hash
from quire.verbs.overviews import recent_activity as verb
from quire.workspace.clock import new_id
from quire.workspace.local import LocalWorkspace

from .conftest import As
from .http_clients import ADA, AGENT, BOB, NOTEBOOK, OTHER, Client, say
from .test_http_overview import run_cell

SEEN = f"/api/notebooks/{NOTEBOOK}/seen"


def edited(cell: str, text: str = "z") -> e.SourceEdited:
    return e.SourceEdited(cell=CellId(cell), base=3, edit=(Splice(0, 0, text),))


async def test_how_far_somebody_has_seen_a_notebook_is_their_own_and_goes_only_forwards(
    ada: Client, acting_as: As, workspace: LocalWorkspace
) -> None:
    bob = await acting_as(BOB, "read")
    head = (await workspace.find(NOTEBOOK)).head.seq
    assert await ada.ask("GET", SEEN) == {"seq": 0, "at": None}
    first = await ada.ask("PUT", SEEN, json={"seq": 2})
    assert first["seq"] == 2
    assert await ada.ask("PUT", SEEN, json={"seq": 1}) == first
    assert await ada.ask("GET", SEEN) == first
    assert await bob.ask("GET", SEEN) == {"seq": 0, "at": None}
    assert (await bob.ask("PUT", SEEN, json={"seq": head}))["seq"] == head  # to read is enough
    assert await ada.ask("GET", SEEN) == first
    assert (await workspace.find(NOTEBOOK)).head.seq == head, "the log does not know"
    assert "so 999 cannot have been seen" in await ada.ask("PUT", SEEN, 422, json={"seq": 999})
    assert "BadInput" in await ada.ask("PUT", SEEN, 400, json={"seq": 1, "actor": BOB})
    assert "NotFound" in await ada.ask("PUT", "/api/notebooks/nothing/seen", 404, json={"seq": 1})


async def test_who_may_not_read_a_notebook_has_seen_nothing_of_it(acting_as: As) -> None:
    other = await acting_as(BOB, "read", notebooks=[OTHER])
    assert "Refused" in await other.ask("GET", SEEN, 403)
    assert "Refused" in await other.ask("PUT", SEEN, 403, json={"seq": 1})
    for path in (f"/api/notebooks/{NOTEBOOK}/since?seq=1", f"/api/notebooks/{NOTEBOOK}/activity"):
        assert "NotFound" in await other.ask("GET", path, 404)


async def test_a_summary_tells_what_others_did_after_a_number(
    ada: Client, acting_as: As, workspace: LocalWorkspace
) -> None:
    head = (await workspace.find(NOTEBOOK)).head.seq
    agent = await acting_as(AGENT, "read", "edit", on_behalf_of=ADA)
    edit = {"type": "source_edited", "cell": "a1", "base": 3, "edit": [[0, 0, "z"]]}
    await agent.ask("POST", "/api/logs/n1/events", json={"drafts": [{"id": "d1", "event": edit}]})
    await ada.ask("POST", "/api/logs/n1/events", json={"drafts": [{"id": "d2", "event": edit | {"cell": "a2"}}]})
    found = await ada.ask("GET", f"/api/notebooks/{NOTEBOOK}/since?seq={head}")
    assert (found["seq"], found["head"], found["partial"]) == (head, head + 2, False)
    (codex,) = found["actors"]
    assert (codex["actor"], codex["on_behalf_of"], codex["changed"]) == (AGENT, ADA, 1)
    (cell,) = found["cells"]
    assert (cell["cell"], cell["did"], cell["by"]) == ("a1", ["changed"], [AGENT])
    nothing = await ada.ask("GET", f"/api/notebooks/{NOTEBOOK}/since?seq={head + 2}")
    assert (nothing["actors"], nothing["cells"]) == ([], [])


async def test_a_redacted_or_archived_notebook_is_summed_up_as_any_other(
    ada: Client, acting_as: As, workspace: LocalWorkspace
) -> None:
    bob = workspace.acting_as((await workspace.bearer((await _token(workspace, BOB)))).identity)
    await say(bob, NOTEBOOK, edited("a1", "secret"), e.NotebookArchived())
    seq = (await workspace.find(NOTEBOOK)).head.seq - 1
    await workspace.redact(NOTEBOOK, [seq], "leaked")
    assert (await ada.ask("PUT", SEEN, json={"seq": seq}))["seq"] == seq
    found = await ada.ask("GET", f"/api/notebooks/{NOTEBOOK}/since?seq=3")
    assert [each["changed"] for each in found["actors"] if each["actor"] == BOB] == [1]
    lines = (await ada.ask("GET", f"/api/notebooks/{NOTEBOOK}/activity"))["lines"]
    assert "secret" not in str(lines)
    assert {act["type"] for line in lines for act in line["acts"]} >= {"payload_redacted", "notebook_archived"}


async def _token(workspace: LocalWorkspace, actor: ActorId) -> str:
    return (await workspace.create_token(actor, ["read", "edit", "run"])).secret


async def test_activity_is_listed_from_the_end_with_how_runs_ended(ada: Client, workspace: LocalWorkspace) -> None:
    await say(workspace, NOTEBOOK, edited("a1"))
    await run_cell(workspace, NOTEBOOK, "a1", "out")
    page = await ada.ask("GET", f"/api/notebooks/{NOTEBOOK}/activity")
    newest = page["lines"][0]
    assert page["before"] is None
    assert [act["type"] for act in newest["acts"]][-2:] == ["source_edited", "execution_requested"]
    assert (newest["acts"][-1]["outcome"], newest["acts"][-1]["error"]) == ("error", "KeyError")


async def test_activity_is_filtered_by_what_and_by_who(ada: Client, workspace: LocalWorkspace) -> None:
    secret = (await workspace.create_token(AGENT, ["read", "edit"], on_behalf_of=BOB)).secret
    agent = await workspace.bearer(secret)
    await say(agent, NOTEBOOK, edited("a1"), e.CommentAdded(comment=new_comment(), text="why", cell=CellId("a1")))
    await run_cell(workspace, NOTEBOOK, "a1", "out")

    async def types(query: str) -> list[str]:
        page: Any = await ada.ask("GET", f"/api/notebooks/{NOTEBOOK}/activity?{query}")
        return [act["type"] for line in page["lines"] for act in line["acts"]]

    assert await types("kinds=comments") == ["comment_added"]
    assert await types("kinds=runs") == ["execution_requested"]
    assert set(await types("kinds=runs,comments")) == {"execution_requested", "comment_added"}
    assert await types(f"who={AGENT}") == ["source_edited", "comment_added"]
    assert await types(f"who={BOB}") == ["source_edited", "comment_added"]  # those for whom it was done count too
    assert await types("who=human:nobody") == []
    assert "BadInput" in await ada.ask("GET", f"/api/notebooks/{NOTEBOOK}/activity?kinds=cooking", 400)


def new_comment() -> Any:
    return new_id()


async def test_pages_of_activity_join_to_the_whole_of_it(ada: Client, workspace: LocalWorkspace) -> None:
    bob = await workspace.bearer(await _token(workspace, BOB))
    for _ in range(5):  # each begins a line
        await say(workspace, NOTEBOOK, edited("a1"), edited("a2"))
        await say(bob, NOTEBOOK, edited("a1"))
    where = f"/api/notebooks/{NOTEBOOK}/activity"
    whole = (await ada.ask("GET", where))["lines"]
    pages: list[Any] = []
    before = ""
    while before is not None:
        page = await ada.ask("GET", f"{where}?limit=3{before}")
        pages += page["lines"]
        assert len(page["lines"]) <= 3
        before = f"&before={page['before']}" if page["before"] is not None else None
    assert pages == whole
    assert len(whole) >= 10


async def test_a_rare_line_is_found_over_several_answers_and_no_answer_reads_all(
    ada: Client, workspace: LocalWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    bob = await workspace.bearer(await _token(workspace, BOB))
    await say(bob, NOTEBOOK, edited("a1"))
    for _ in range(40):
        await say(workspace, NOTEBOOK, *(edited("a2") for _ in range(50)))
    monkeypatch.setattr(verb, "MOST_READ", 600)
    where, asked, lines = f"/api/notebooks/{NOTEBOOK}/activity?who={BOB}", 0, []
    before: int | None = None
    while True:
        page = await ada.ask("GET", where + (f"&before={before}" if before is not None else ""))
        asked, lines, before = asked + 1, lines + page["lines"], page["before"]
        if before is None:
            break
    assert [line["actor"] for line in lines] == [BOB]
    assert asked >= 2


async def test_the_log_of_a_run_tells_which_cells_ran(ada: Client, workspace: LocalWorkspace) -> None:
    run = LogId("r1")
    await say(workspace, run, e.RunRequested(name="r", source=e.RunSource(path="r.py", digest="d")))
    page = await ada.ask("GET", f"/api/notebooks/{run}/activity")
    assert [act["type"] for line in page["lines"] for act in line["acts"]] == ["run_requested"]


async def test_events_are_read_from_the_end(ada: Client) -> None:
    page = await ada.ask("GET", "/api/logs/n1/events?newest_first=true&limit=2")
    assert [each["seq"] for each in page["entries"]] == [3, 2]
    assert page["more"] is True
    rest = await ada.ask("GET", "/api/logs/n1/events?newest_first=true&until=1")
    assert [each["seq"] for each in rest["entries"]] == [1]
    assert "in order" in await ada.ask("GET", "/api/logs/n1/events?newest_first=true&cell=a1", 422)


async def test_the_events_of_a_cell_have_edits_that_were_rebased_and_whole_texts(
    ada: Client, workspace: LocalWorkspace
) -> None:
    for text in ("first ", "second "):
        await say(workspace, NOTEBOOK, edited("a1", text))
    source = (await workspace.read(NOTEBOOK)).cells[CellId("a1")].source
    await say(workspace, NOTEBOOK, e.SourceEdited(cell=CellId("a1"), text="all new", base_hash=source_hash(source)))
    told = await ada.ask("GET", f"/api/logs/{NOTEBOOK}/events?cell=a1&types=source_edited")
    events = [entry["event"] for entry in told["entries"]]
    assert [event.get("text") for event in events] == [None, None, "all new"]
    assert all(event["applied"] for event in events[1:]), "each is kept with what it came to"
