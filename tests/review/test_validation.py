"""A change whose notebook does not run is proposed all the same, and its status is red."""

from __future__ import annotations

import json

import keyring
import pytest
from keyring.backend import KeyringBackend

from quire.core.errors import BadInput
from quire.review.forges.find_forge import find_token, kind_of, place_of

from .clone import Clone
from .forge_server import TOKEN, GiteaStandIn


def test_a_cell_that_fails_makes_the_status_red_and_the_merge_is_refused(clone: Clone, gitea: GiteaStandIn) -> None:
    clone.edit("print(f", "raise SystemError(f")
    made = clone.propose("--branch", "agent/broken", status=1)
    assert (made["status"], made["pull_request"]) == ("failure", 1)
    body = gitea.pulls[0]["body"]
    assert "❌ Every notebook runs from top to bottom: `notebooks/fleet.py` ended as error" in body
    assert "SystemError: 2 of 5 are healthy" in body
    assert gitea.statuses[0]["status"] == "failure"
    done = clone.call("propose", "--merge", "--branch", "agent/broken")
    assert done.returncode == 3 and "quire / validation: failed" in done.stderr
    # Made whole, the same pull request is green.
    clone.edit("raise SystemError(f", "print('mended', f")
    assert clone.propose("--branch", "agent/broken")["status"] == "success"
    assert (gitea.statuses[0]["status"], len(gitea.pulls)) == ("success", 1)


@pytest.mark.slow
def test_a_run_that_never_ends_is_stopped_and_one_that_cannot_begin_is_told(clone: Clone, gitea: GiteaStandIn) -> None:
    clone.edit("scores = [", "import time\ntime.sleep(3600)\nscores = [")
    made = clone.propose("--branch", "agent/endless", "--timeout", "5", status=1)
    assert made["validations"][0]["head"]["status"] == "timeout"
    assert "ended as timeout" in gitea.pulls[0]["body"]
    clone.edit("import time\ntime.sleep(3600)\n", "")
    clone.edit("threshold = 0.95", "threshold: int = 0.95")
    made = clone.propose("--branch", "agent/endless", "-p", "threshold", "much", status=1)
    assert made["validations"][0]["head"]["status"] == "unavailable"


@pytest.mark.slow
def test_what_a_notebook_prints_of_tokens_and_paths_does_not_get_out(clone: Clone, gitea: GiteaStandIn) -> None:
    leaks = "import os\nprint(os.environ.get('GITEA_TOKEN'), os.environ['DB_PASSWORD'], os.getcwd(), __file__ if 0 else '')\n"
    clone.edit("scores = [", f"{leaks}scores = [")
    secret = "s3cr3t-value-0123456789"
    done = clone.call(
        "propose", "--pull-request", "--branch", "agent/leak", "--json", token="", GITEA_TOKEN=TOKEN, DB_PASSWORD=secret
    )
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    executed = (clone.top / made["validations"][0]["output"]).read_text()
    for text in (gitea.pulls[0]["body"], executed, done.stdout, done.stderr):
        assert not any(each in text for each in (secret, TOKEN, str(clone.top.parent)))
    assert "None [secret DB_PASSWORD]" in executed


# ---- Which forge, and which token


@pytest.mark.parametrize(
    ("url", "kind", "owner", "repo"),
    [
        ("https://github.com/acme/fleet.git", "github", "acme", "fleet"),
        ("git@github.com:acme/fleet.git", "github", "acme", "fleet"),
        ("ssh://git@codeberg.org:2222/acme/fleet", "gitea", "acme", "fleet"),
        ("https://gitlab.example.org/group/sub/fleet.git", "gitlab", "group/sub", "fleet"),
        ("https://ada:secret@gitea.example.org:3000/acme/fleet", "gitea", "acme", "fleet"),
        ("https://git.example.org/acme/fleet", None, "acme", "fleet"),
    ],
)
def test_a_forge_is_known_by_its_address(clone: Clone, url: str, kind: str | None, owner: str, repo: str) -> None:
    clone.git("config", "--unset", "quire.forge")
    place = place_of(url)
    assert place is not None
    assert (place.owner, place.repo) == (owner, repo)
    assert kind_of(place, clone.top, {}) == kind
    assert "secret" not in place.host


@pytest.mark.parametrize("url", ["/srv/git/fleet.git", "../fleet", "file:///srv/fleet", "https://example.org/fleet"])
def test_a_folder_is_no_forge(url: str) -> None:
    assert place_of(url) is None


def test_a_token_goes_to_the_host_that_it_was_made_for() -> None:
    environ = {"GITHUB_TOKEN": "of-actions", "GITHUB_SERVER_URL": "https://github.com"}
    assert find_token("github.com", "github", environ) == ("GITHUB_TOKEN", "of-actions")
    with pytest.raises(BadInput, match=r"no token for github\.example\.org"):
        find_token("github.example.org", "github", environ)
    with pytest.raises(BadInput, match="GITEA_TOKEN holds is no token"):
        find_token("gitea.example.org", "gitea", {"GITEA_TOKEN": "two words"})
    before = keyring.get_keyring()
    keyring.set_keyring(KeptPasswords())
    try:
        assert find_token("gitea.example.org", "gitea", {}) == ("the keyring", "quire-for-gitea.example.org")
    finally:
        keyring.set_keyring(before)


class KeptPasswords(KeyringBackend):
    """A keyring that has a password for every host."""

    def get_password(self, service: str, username: str) -> str:
        return f"{service}-for-{username}"

    def set_password(self, service: str, username: str, password: str) -> None:
        raise NotImplementedError

    def delete_password(self, service: str, username: str) -> None:
        raise NotImplementedError
