"""The three clients, each against its forge: what they send is what the forge's description allows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from quire.core.errors import BadInput, Conflict, NotFound, Refused, Unavailable
from quire.review.forges.forge import CommitStatus, Forge
from quire.review.forges.forge_http import ForgeAddress
from quire.review.forges.gitea import Gitea
from quire.review.forges.github import GitHub
from quire.review.forges.gitlab import GitLab
from quire.review.pull_requests.conversation import read_conversation
from quire.review.pull_requests.description import REVIEW_MARKER
from quire.review.pull_requests.merge_change import check_green
from quire.review.pull_requests.review_change import keep_comment

from .clone import PATH, Clone
from .forge_server import TOKEN, GiteaStandIn, GitHubStandIn, GitLabStandIn, StandIn, served

KINDS: dict[str, tuple[type[StandIn], type[Gitea] | type[GitHub] | type[GitLab]]] = {
    "gitea": (GiteaStandIn, Gitea),
    "github": (GitHubStandIn, GitHub),
    "gitlab": (GitLabStandIn, GitLab),
}


@pytest.fixture(params=KINDS)
def stand_in(request: pytest.FixtureRequest, place: Path) -> Iterator[StandIn]:
    with served(KINDS[request.param][0](place / "remote.git")) as made:
        yield made


@pytest.fixture
async def forge(stand_in: StandIn) -> AsyncIterator[Forge]:
    made = client(stand_in)
    yield made
    await made.close()


def where(stand_in: StandIn, number: int = 1) -> str:
    """The path of a pull request in the API."""
    if stand_in.kind == "gitlab":
        return f"/projects/acme%2Ffleet/merge_requests/{number}"
    return f"/repos/acme/fleet/pulls/{number}"


def client(stand_in: StandIn, token: str = TOKEN) -> Forge:
    address = ForgeAddress(
        api=stand_in.url + stand_in.prefix, host="127.0.0.1", owner=stand_in.owner, repo=stand_in.repo
    )
    return KINDS[stand_in.kind][1](address, token, pauses=(0.0, 0.0))


@pytest.fixture
def branch(place: Path, stand_in: StandIn) -> str:
    """A branch at the remote that changes the notebook."""
    clone = Clone(place / "clone", place / "home")
    clone.connect(stand_in)
    clone.git("switch", "--quiet", "--create", "agent/a/b")
    clone.edit()
    clone.git("commit", "--quiet", "--all", "-m", "x")
    clone.git("push", "--quiet", "origin", "agent/a/b")
    return "agent/a/b"


async def test_a_pull_request_is_opened_found_updated_and_merged(forge: Forge, stand_in: StandIn, branch: str) -> None:
    assert await forge.find_pull_request(branch, "main") is None
    opened = await forge.open_pull_request(branch, "main", "Title", "Body")
    assert (opened.number, opened.title, opened.head, opened.base, opened.state) == (1, "Title", branch, "main", "open")
    assert opened.sha == stand_in.sha(branch)
    with pytest.raises(Conflict, match="already exists"):
        await forge.open_pull_request(branch, "main", "Title", "Body")
    updated = await forge.update_pull_request(1, None, "Other")
    assert (updated.title, updated.body) == ("Title", "Other")
    assert await forge.find_pull_request(branch, "main") == await forge.pull_request(1)
    await forge.merge(updated, "Merge it")
    assert (await forge.pull_request(1)).state == "merged"
    assert stand_in.git("log", "-1", "--format=%s", "main") == "Merge it"
    assert await forge.find_pull_request(branch, "main") is None


async def test_a_pull_request_is_found_on_the_last_page(forge: Forge, stand_in: StandIn, branch: str) -> None:
    stand_in.page_size = 2
    for number in range(1, 6):
        stand_in.git("update-ref", f"refs/heads/other-{number}", stand_in.sha(branch))
        await forge.open_pull_request(f"other-{number}", "main", "x", "")
    if stand_in.kind == "gitea":
        await forge.open_pull_request(branch, "main", "x", "")
        found = await forge.find_pull_request(branch, "main")
        assert found is not None and found.number == 6
    for number in range(5):
        await forge.comment(1, f"comment {number}")
    assert [each.body for each in await forge.comments(1)] == [f"comment {number}" for number in range(5)]


async def test_one_comment_is_kept_current_and_others_are_left_alone(
    forge: Forge, stand_in: StandIn, branch: str
) -> None:
    pull = await forge.open_pull_request(branch, "main", "x", "")
    await forge.comment(pull.number, "What does this do?")
    for text in ("first", "second", "second"):
        await keep_comment(forge, pull, f"{REVIEW_MARKER}\n{text}")
    assert [each.body for each in await forge.comments(pull.number)] == [
        "What does this do?",
        f"{REVIEW_MARKER}\nsecond",
    ]
    assert stand_in.asked("PUT" if stand_in.kind == "gitlab" else "PATCH") == 1


async def test_what_people_write_is_read_in_its_order(forge: Forge, stand_in: StandIn, branch: str) -> None:
    pull = await forge.open_pull_request(branch, "main", "x", "")
    stand_in.write_comment("ada", "Why?")
    await keep_comment(forge, pull, f"{REVIEW_MARKER}\nResults")
    stand_in.write_review("bob", "Use 0.92.", asks_for_changes=True)
    found = await read_conversation(forge, pull.number)
    assert [(each.author, each.body) for each in found.comments] == [("ada", "Why?"), ("bob", "Use 0.92.")]
    if stand_in.kind != "gitlab":
        assert [each.verdict for each in found.comments] == ["", "change_asked"]
    assert found.after(found.cursor).comments == []
    stand_in.write_comment("ada", "Please.")
    assert [each.body for each in (await read_conversation(forge, 1)).after(found.cursor).comments] == ["Please."]
    if isinstance(stand_in, GiteaStandIn):
        stand_in.write_on_line("bob", "Here.", PATH, 5)
        last = (await read_conversation(forge, 1)).comments[-1]
        assert (last.body, last.path, last.line) == ("Here.", PATH, 5)


async def test_the_latest_status_of_each_check_counts(forge: Forge, stand_in: StandIn, branch: str) -> None:
    pull = await forge.open_pull_request(branch, "main", "x", "")
    for context, state in (("a", "pending"), ("b", "success"), ("a", "failure")):
        assert state in ("pending", "success", "failure")
        await forge.set_status(pull.sha, CommitStatus(context=context, state=state, description="told"))
    statuses = await forge.statuses(pull.sha)
    assert {each.context: each.state for each in statuses} == {"a": "failure", "b": "success"}
    with pytest.raises(Refused, match=r"a status of its head .* is red"):
        check_green(pull, statuses)
    await forge.set_status(pull.sha, CommitStatus(context="a", state="success"))
    check_green(pull, await forge.statuses(pull.sha))


async def test_what_the_branches_disagree_on_is_not_merged(
    forge: Forge, stand_in: StandIn, branch: str, place: Path
) -> None:
    pull = await forge.open_pull_request(branch, "main", "x", "")
    clone = Clone(place / "clone", place / "home")
    clone.git("switch", "--quiet", "main")
    clone.edit("threshold = 0.95", "threshold = 0.50")
    clone.git("commit", "--quiet", "--all", "-m", "y")
    clone.git("push", "--quiet", "origin", "main")
    with pytest.raises(Conflict, match=r"was not merged.*merge main into agent/a/b"):
        await forge.merge(pull, "x")
    assert (await forge.pull_request(1)).state == "open"
    assert PATH in stand_in.git("ls-tree", "-r", "--name-only", "main")


async def test_a_head_that_moved_is_not_merged(forge: Forge, stand_in: StandIn, branch: str, place: Path) -> None:
    pull = await forge.open_pull_request(branch, "main", "x", "")
    stand_in.git("update-ref", f"refs/heads/{branch}", stand_in.sha("main"))
    with pytest.raises(Conflict, match="was not merged"):
        await forge.merge(pull, "x")


# ---- Faults


@pytest.mark.parametrize(
    ("status", "kind", "said"),
    [
        (401, Refused, "token is missing, wrong or expired"),
        (403, Refused, "may not do that"),
        (404, NotFound, "no such thing, or this token may not see it"),
        (409, Conflict, "Look at it on the forge"),
        (422, BadInput, "does not take that"),
        (500, Unavailable, "has a fault"),
        (301, Unavailable, "moved"),
    ],
)
async def test_a_fault_says_the_thing_the_fault_and_the_next_step(
    forge: Forge, stand_in: StandIn, status: int, kind: type[Exception], said: str
) -> None:
    stand_in.fail("GET", f"{where(stand_in)}$", status, times=9, headers={"Location": "http://127.0.0.1:9/"})
    with pytest.raises(kind, match=said) as caught:
        await forge.pull_request(1)
    assert f"127.0.0.1/acme/fleet: GET {where(stand_in)} was answered with {status}" in str(caught.value)
    assert TOKEN not in str(caught.value)
    stand_in.failures.clear()


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (429, {"Retry-After": "0"}),
        (503, {"Retry-After": "Thu, 19 Nov 2020 00:00:00 GMT"}),
        (500, {}),
        (403, {"Retry-After": "0"}),
    ],
)
async def test_what_passes_is_asked_again(
    forge: Forge, stand_in: StandIn, branch: str, status: int, headers: dict[str, str]
) -> None:
    await forge.open_pull_request(branch, "main", "x", "")
    stand_in.fail("GET", f"{where(stand_in)}$", status, times=2, headers=headers)
    assert (await forge.pull_request(1)).number == 1
    assert stand_in.asked("GET", f"{where(stand_in)}$") == 3


async def test_a_forge_that_wants_to_be_left_alone_for_long_is_not_waited_for(forge: Forge, stand_in: StandIn) -> None:
    stand_in.fail("GET", f"{where(stand_in)}$", 429, headers={"Retry-After": "3600"})
    with pytest.raises(Unavailable, match=r"asked too often. Wait a few minutes"):
        await forge.pull_request(1)


async def test_what_may_have_taken_effect_is_not_sent_twice(forge: Forge, stand_in: StandIn, branch: str) -> None:
    opened = where(stand_in).removesuffix("/1")
    stand_in.fail("POST", f"{opened}$", 500, done=True)
    with pytest.raises(Unavailable, match="goes on where it stopped"):
        await forge.open_pull_request(branch, "main", "x", "")
    assert stand_in.asked("POST", f"{opened}$") == 1
    assert len(stand_in.pulls) == 1


async def test_a_wrong_token_and_a_forge_that_is_away_are_told(stand_in: StandIn) -> None:
    wrong = client(stand_in, token="not-the-token")
    with pytest.raises(Refused, match="token is missing, wrong or expired"):
        await wrong.pull_request(1)
    await wrong.close()
    url, stand_in.url = stand_in.url, "http://127.0.0.1:9"
    away = client(stand_in)
    stand_in.url = url
    with pytest.raises(Unavailable, match=r"cannot be reached.*call again once it is there"):
        await away.pull_request(1)
    await away.close()
