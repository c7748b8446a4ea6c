"""Who may bind a notebook to a file, to which, and that one notebook holds it: on every store, and behind a server."""

from __future__ import annotations

import asyncio
import io

import pytest

from quire.core import events as e
from quire.core.errors import BadInput, Conflict
from quire.core.events import KnownEvent
from quire.core.ids import MIRROR, WORKSPACE_LOG, CellId, LogId
from quire.workspace.local import LocalWorkspace
from quire.workspace.protocol import Workspace

from .doors import Place, bearer, bearer_of
from .identities import ADA, AGENT, BOB, EVE, LOG, OTHER, Clock, OpenOne, draft, give, refused, say

MINE = LogId("mine")
SALES = e.FileBound(path="sales.py", format="percent")
EDITS: tuple[e.Scope, ...] = ("read", "edit", "run")
BINDS: tuple[e.Scope, ...] = (*EDITS, "bind")


def begun(path: str) -> tuple[KnownEvent, ...]:
    """A notebook of one's own, bound to a file from its beginning."""
    return e.NotebookCreated(name="mine"), e.FileBound(path=path, format="percent")


@pytest.fixture
async def sales(owner: LocalWorkspace, ada: Workspace) -> LogId:
    """A notebook of ada's that the owner of the files bound to sales.py."""
    await say(owner, SALES, log=LOG)
    return LOG


# ---- Who


async def test_editing_is_not_enough_to_bind_a_notebook_or_to_let_go(owner: LocalWorkspace, sales: LogId) -> None:
    """Rule 3: nothing comes in or out by way of a file for who has no `bind`, not even in a notebook of their own."""
    eve = await bearer(owner, EVE, *EDITS)
    for log, events in (
        (MINE, begun("sales.py")),
        (MINE, begun("other.py")),
        (OTHER, (SALES,)),
        (LOG, (e.FileBound(path=None),)),
        (LOG, (e.FileMerged(path="sales.py", digest="d"),)),
    ):
        assert "needs the scope 'bind'" in await refused(say(eve, *events, log=log))
    assert MINE not in [info.log for info in await owner.logs()]
    binds_only = await bearer(owner, EVE, "read", "bind")
    assert "needs the scope 'edit'" in await refused(say(binds_only, SALES, log=OTHER))


async def test_a_token_for_some_notebooks_binds_none_of_them(owner: LocalWorkspace, sales: LogId) -> None:
    """Its notebook would be a way to every file of the folder."""
    eve = await bearer(owner, EVE, *BINDS, notebooks=[LOG, OTHER])
    for path in ("sales.py", "other.py"):
        assert "for some notebooks only" in await refused(say(eve, e.FileBound(path=path), log=LOG))
    await say(eve, e.FileBound(path=None), log=LOG)
    assert (await owner.read(LOG)).binding is None


async def test_who_has_to_ask_before_it_edits_binds_nothing(owner: LocalWorkspace, sales: LogId) -> None:
    asking = await bearer(owner, AGENT, *BINDS, on_behalf_of=ADA, asks=["edit"])
    assert "cannot be proposed" in await refused(say(asking, SALES, log=OTHER))


async def test_the_owner_of_a_notebook_binds_it_and_an_editor_does_not(owner: LocalWorkspace, ada: Workspace) -> None:
    bob = await bearer(owner, BOB, *BINDS)
    await give(ada, BOB, "editor")
    assert "the role is editor" in await refused(say(bob, SALES))
    await give(ada, BOB, "owner")
    await say(bob, SALES)
    assert (await owner.read(LOG)).binding is not None


async def test_the_browser_of_the_owner_of_the_files_binds(owner: LocalWorkspace, ada: Workspace) -> None:
    browser = await bearer_of(owner, (await owner.sign_in((await owner.create_sign_in()).secret)).secret)
    await say(browser, SALES)
    assert (await owner.read(LOG)).binding is not None


async def test_nobody_gives_away_the_right_to_bind_without_having_it(owner: LocalWorkspace, ada: Workspace) -> None:
    bob = await bearer(owner, BOB, "read", "edit", "admin")
    assert "cannot make a token with bind" in await refused(bob.create_token(EVE, ["read", "bind"]))


# ---- Which file


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        (".env", "hidden"),
        (".config/settings.py", "hidden"),
        (".venv/lib/python3.13/site.py", "hidden"),
        (".git/hooks/pre-commit.py", "hidden"),
        (".quire/notes.py", "hidden"),
        ("notebooks/.hidden.py", "hidden"),
        ("quire.toml", "settings"),
        ("Quire.TOML", "settings"),
        ("pyproject.toml", "settings"),
        ("tools/pyproject.toml", "settings"),
        ("venv/lib/site-packages/pip.py", "installed"),
        ("node_modules/x.py", "installed"),
        ("../elsewhere.py", "does not lie inside"),
        ("/etc/passwd", "does not lie inside"),
        ("notebooks/../sales.py", "does not lie inside"),
        ("./sales.py", "does not lie inside"),
        ("a//b.py", "does not lie inside"),
        ("a\\b.py", "does not lie inside"),
    ],
)
async def test_what_is_hidden_or_read_by_the_host_is_bound_by_nobody(
    owner: LocalWorkspace, ada: Workspace, path: str, fault: str
) -> None:
    """Not by the owner of the files either: what a notebook says would be what the host obeys."""
    with pytest.raises(BadInput, match=fault):
        await say(owner, e.FileBound(path=path))


# ---- One notebook for a file


async def test_a_file_that_a_notebook_holds_is_bound_by_no_other(owner: LocalWorkspace, sales: LogId) -> None:
    """Rule 13, in whatever case it is written; and it is free again once the other lets go."""
    bob = await bearer(owner, BOB, *BINDS)
    for path in ("sales.py", "Sales.PY"):
        with pytest.raises(Conflict, match="bound to 'notebook n1' already"):
            await say(bob, *begun(path), log=MINE)
        with pytest.raises(Conflict, match="already"):
            await say(owner, e.FileBound(path=path), log=OTHER)
    await say(owner, SALES, log=LOG)  # the one that holds it may say so again
    await say(owner, e.FileBound(path="moved.py"), log=LOG)
    await say(bob, *begun("sales.py"), log=MINE)
    with pytest.raises(Conflict, match="already"):
        await say(owner, SALES, log=LOG)


async def test_the_file_of_a_closed_notebook_is_refused_without_a_word_about_it(
    owner: LocalWorkspace, ada: Workspace, sales: LogId
) -> None:
    bob = await bearer(owner, BOB, *BINDS)
    await give(ada, ADA, "owner")
    told = await refused(say(bob, *begun("sales.py"), log=MINE))
    assert "may not edit" in told
    assert LOG not in told
    assert "notebook n1" not in told
    assert MINE not in [info.log for info in await owner.logs()]


async def test_of_many_who_bind_one_file_at_once_one_wins(open_one: OpenOne) -> None:
    """From two processes, each with its own memory of who holds what."""
    houses = [await open_one(), await open_one()]

    async def bind(number: int) -> LogId:
        log = LogId(f"log{number}")
        await say(houses[number % 2], *begun("sales.py"), log=log)
        return log

    done = await asyncio.gather(*(bind(number) for number in range(8)), return_exceptions=True)
    winners = [each for each in done if isinstance(each, str)]
    assert len(winners) == 1
    assert all(isinstance(each, Conflict) for each in done if each not in winners)
    assert [info.log for info in await houses[0].logs("notebook")] == winners


async def test_a_binding_that_is_sent_again_is_answered_with_the_first(owner: LocalWorkspace, ada: Workspace) -> None:
    again = draft(SALES)
    (first,) = await owner.submit(LOG, [again])
    await say(owner, e.FileBound(path=None))
    await say(owner, SALES, log=OTHER)
    assert [entry.seq for entry in await owner.submit(LOG, [again])] == [first.seq]
    assert (await owner.read(LOG)).binding is None


async def test_a_binding_does_not_hide_behind_a_redaction(owner: LocalWorkspace, sales: LogId) -> None:
    with pytest.raises(BadInput, match="apart"):
        await say(owner, e.PayloadRedacted(seq=2, why="x"), SALES, log=OTHER)


async def test_nobody_can_hold_the_right_to_bind_by_its_name(owner: LocalWorkspace, ada: Workspace) -> None:
    """What decides stands where no hold of a client can."""
    eve = await bearer(owner, EVE, *EDITS)
    assert await eve.hold("binding:files") is not None
    await say(owner, SALES)


# ---- On whose behalf a file is merged


MERGED = e.FileMerged(
    path="sales.py",
    digest="d",
    changes=(e.CellAdded(cell=CellId("fromfile"), after=None, source="y = 2"),),
)


async def test_a_merge_is_recorded_by_the_mirror_on_behalf_of_who_bound_the_file(
    owner: LocalWorkspace, ada: Workspace
) -> None:
    bob = await bearer(owner, BOB, *BINDS)
    await say(bob, SALES)
    (entry,) = await say(await owner.as_mirror(LOG), MERGED)
    assert (entry.actor, entry.on_behalf_of) == (MIRROR, BOB)
    cell = (await owner.read(LOG)).cells[CellId("fromfile")]
    assert cell.author == "system:mirror from sales.py"
    # Followed to another name by the mirror, it is still bob's binding.
    await say(await owner.as_mirror(LOG), e.FileBound(path="moved.py"))
    (entry,) = await say(await owner.as_mirror(LOG), e.FileMerged(path="moved.py", digest="e"))
    assert entry.on_behalf_of == BOB


async def test_who_says_that_a_file_was_merged_does_not_pass_for_the_mirror(
    owner: LocalWorkspace, sales: LogId
) -> None:
    bob = await bearer(owner, BOB, *BINDS)
    (entry,) = await say(bob, MERGED)
    assert entry.actor == BOB
    assert (await owner.read(LOG)).cells[CellId("fromfile")].author == BOB


async def test_nothing_is_merged_for_somebody_whose_rights_ended(
    owner: LocalWorkspace, ada: Workspace, clock: Clock
) -> None:
    """As they are at that moment: a token revoked or over, a role lowered. Given back, it goes on."""
    made = await owner.create_token(BOB, BINDS, expires_at="5h")
    await say(await bearer_of(owner, made.secret), SALES)
    assert (await owner.as_mirror(LOG)).identity.on_behalf_of == BOB
    await give(ada, BOB, "viewer")
    assert "the role is viewer" in await refused(owner.as_mirror(LOG))
    await give(ada, BOB, "editor")
    assert (await owner.as_mirror(LOG)).identity.on_behalf_of == BOB
    clock.hour = 6
    assert "sales.py is not merged on behalf of human:bob" in await refused(owner.as_mirror(LOG))
    again = await owner.create_token(BOB, EDITS)
    assert (await owner.as_mirror(LOG)).identity.on_behalf_of == BOB
    await say(owner, e.TokenRevoked(token=again.token), log=WORKSPACE_LOG)
    assert f"quire bind {LOG} sales.py" in await refused(owner.as_mirror(LOG))
    await say(owner, SALES)  # as that says: now it is the owner's
    assert (await owner.as_mirror(LOG)).identity.on_behalf_of == owner.identity.actor


async def test_a_merge_for_an_agent_needs_the_rights_of_who_answers_for_it(
    owner: LocalWorkspace, ada: Workspace
) -> None:
    bob = await bearer(owner, BOB, "read", "edit")
    agent = await bearer(owner, AGENT, *BINDS, on_behalf_of=BOB)
    await say(agent, SALES)
    assert (await owner.as_mirror(LOG)).identity.on_behalf_of == BOB
    await give(ada, BOB, "viewer")
    assert "agent:claude" in await refused(owner.as_mirror(LOG))
    assert bob.identity.actor == BOB


# ---- What is imported


async def test_a_binding_that_comes_in_with_a_bundle_is_over(owner: LocalWorkspace, place: Place) -> None:
    """Nothing imported acts: its path was meant in another folder."""
    elsewhere = await place.elsewhere()
    await say(elsewhere, *begun("sales.py"), log=MINE)
    bundle = io.BytesIO()
    await elsewhere.export_bundle(MINE, bundle)
    bundle.seek(0)
    await say(owner, *begun("sales.py"), log=LOG)
    await owner.import_bundle(bundle)
    assert (await owner.read(MINE)).binding is None
    last = (await owner.entries(MINE))[-1]
    assert (last.actor, last.event) == ("system:quire", e.FileBound(path=None))
    assert "was bound to its file elsewhere" in await refused(owner.as_mirror(MINE))
