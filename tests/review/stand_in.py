"""A stand-in for a forge: a real HTTP server over a real bare repository, held to the forge's own description of its API.

Whatever a client sends that the description does not allow is kept in `faults`, and so is whatever is answered; the fixture
fails the test with them. `Forge.fail` has the next request that fits answered with a fault instead.
"""

from __future__ import annotations

import json
import re
import subprocess
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec

from .openapi_check import Description

TOKEN = "forge-token-0123456789abcdef"
Answer = tuple[int, Any]
Route = Callable[[dict[str, str], dict[str, str], Any], Answer]
"""Takes the parts of the path, the query and the body."""
BOT = "quire-bot"
"""Whose token it is."""


class Failure(msgspec.Struct, kw_only=True):
    """What is answered instead."""

    method: str
    path: str
    status: int
    headers: dict[str, str] = {}
    done: bool = False
    """Whether the request takes effect all the same: only its answer is lost."""
    times: int = 1
    answer: Any = None


class StandIn:
    """What both forges share: pulls, comments and statuses, and the repository."""

    kind = ""
    prefix = ""

    def __init__(self, repository: Path, owner: str = "acme", repo: str = "fleet") -> None:
        self.repository, self.owner, self.repo = repository, owner, repo
        self.description = Description(self.kind) if self.kind != "gitlab" else None
        self.url = ""
        self.pulls: list[dict[str, Any]] = []
        self.comments: list[dict[str, Any]] = []
        self.statuses: list[dict[str, Any]] = []
        self.requests: list[tuple[str, str]] = []
        self.faults: list[str] = []
        self.failures: list[Failure] = []
        self.page_size = 50
        self._seconds = 0
        self._lock = threading.Lock()

    # ---- For tests

    def fail(self, method: str, path: str, status: int, **more: Any) -> None:
        """Have the next requests that fit answered with a fault."""
        self.failures.append(Failure(method=method, path=path, status=status, **more))

    def asked(self, method: str, path: str = "") -> int:
        """How many requests there were of a kind."""
        return sum(each == method and re.search(path, where) is not None for each, where in self.requests)

    @property
    def remote(self) -> str:
        """The address of the repository, as a clone would have it."""
        return f"{self.url}/{self.owner}/{self.repo}.git"

    def write_comment(self, author: str, body: str, number: int = 1) -> None:
        """Write a comment on a pull request, as a person does it on its page."""
        raise NotImplementedError

    def write_review(self, author: str, body: str, *, asks_for_changes: bool, number: int = 1) -> None:
        """Review a pull request, as a person does it on its page."""
        raise NotImplementedError

    def now(self) -> str:
        """A time that is later with each call."""
        self._seconds += 1
        return f"2026-11-19T00:{self._seconds // 60:02}:{self._seconds % 60:02}Z"

    def git(self, *arguments: str, check: bool = True, stdin: str = "") -> str:
        done = subprocess.run(
            ["git", "-C", str(self.repository), *arguments], input=stdin, capture_output=True, text=True, timeout=60
        )
        assert not check or done.returncode == 0, done.stderr
        return done.stdout.strip() if done.returncode in (0, 1) else ""

    def sha(self, branch: str) -> str:
        return self.git("rev-parse", "--verify", "--quiet", f"refs/heads/{branch}", check=False)

    # ---- The server

    def handle(
        self, method: str, path: str, query: dict[str, str], headers: Any, body: Any
    ) -> tuple[int, dict[str, str], Any]:
        with self._lock:
            self.requests.append((method, path))
            if not self.is_allowed(headers):
                return 401, {}, {"message": "token is required"}
            failure = next((each for each in self.failures if _fits(each, method, path)), None)
            if failure is not None:
                failure.times -= 1
                if failure.times == 0:
                    self.failures.remove(failure)
                if failure.done:
                    self._done(method, path, query, body)
                told = failure.answer if failure.answer is not None else {"message": "as the test wants it"}
                return failure.status, failure.headers, told
            status, answer = self._done(method, path, query, body)
            return status, {}, answer

    def _done(self, method: str, path: str, query: dict[str, str], body: Any) -> Answer:
        assert self.description is not None
        found = self.description.operation(method, path)
        if found is None:
            self.faults.append(f"{method} {path}: the API has no such operation")
            return 404, {"message": "not found"}
        template, parts = found
        self.faults += self.description.faults_of_request(method, template, parts, query, body)
        if (parts.get("owner", self.owner), parts.get("repo", self.repo)) != (self.owner, self.repo):
            return 404, {"message": "not found"}
        status, answer = self.answer(method, template, parts, query, body)
        self.faults += self.description.faults_of_answer(method, template, status, answer)
        return status, answer

    def is_allowed(self, headers: Any) -> bool:
        raise NotImplementedError

    def answer(self, method: str, template: str, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        raise NotImplementedError

    def paged(self, items: list[Any], query: dict[str, str], size: str) -> list[Any]:
        count = min(int(query.get(size, self.page_size)), self.page_size)
        start = (int(query.get("page", 1)) - 1) * count
        return items[start : start + count]

    def merge(self, pull: dict[str, Any], title: str) -> bool:
        """Merge for real, in the bare repository; whether it went."""
        head, base = self.sha(pull["head"]), self.sha(pull["base"])
        tree = self.git("merge-tree", "--write-tree", base, head, check=False).splitlines()
        if len(tree) != 1:
            return False
        who = ("-c", "user.name=forge", "-c", "user.email=forge@example.org")
        commit = self.git(*who, "commit-tree", tree[0], "-p", base, "-p", head, "-m", title)
        self.git("update-ref", f"refs/heads/{pull['base']}", commit, base)
        pull.update(state="closed", merged=True, commit=commit)
        return True


def _fits(failure: Failure, method: str, path: str) -> bool:
    return failure.method == method and re.search(failure.path, path) is not None


class RepositoryStandIn(StandIn):
    """What Gitea's API and GitHub's have in common: the paths of a repository."""

    index = ""
    """What their description calls the number of a pull request, and of an issue."""
    issue = ""
    size_name = ""
    edited = 200
    """The status that answers a change."""

    def __init__(self, repository: Path, owner: str = "acme", repo: str = "fleet") -> None:
        super().__init__(repository, owner, repo)
        self.reviews: list[dict[str, Any]] = []

    def answer(self, method: str, template: str, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        route = self.routes().get((method, template.removeprefix("/repos/{owner}/{repo}")))
        return route(parts, query, body) if route is not None else (404, {"message": "not found"})

    def routes(self) -> dict[tuple[str, str], Route]:
        pull, comments = f"/pulls/{{{self.index}}}", f"/issues/{{{self.issue}}}/comments"
        return {
            ("GET", "/pulls"): self.list_pulls,
            ("POST", "/pulls"): self.open_pull,
            ("GET", pull): lambda parts, query, body: (200, self.shown(self.pull_of(parts))),
            ("PATCH", pull): self.edit_pull,
            ("GET", f"{pull}/reviews"): self.list_reviews,
            ("GET", comments): self.list_comments,
            ("POST", comments): self.comment,
            ("POST", "/statuses/{sha}"): self.set_status,
            ("GET", "/commits/{ref}/statuses"): self.list_statuses,
        }

    def shown(self, pull: dict[str, Any]) -> dict[str, Any]:
        """A pull request, as it is answered."""
        raise NotImplementedError

    def fault_of(self, body: Any) -> Answer | None:
        """Why a pull request is not opened."""
        raise NotImplementedError

    def pull_of(self, parts: dict[str, str]) -> dict[str, Any]:
        return self.pulls[int(parts[self.index]) - 1]

    def list_pulls(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        raise NotImplementedError

    def open_pull(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        if (fault := self.fault_of(body)) is not None:
            return fault
        pull = {"number": len(self.pulls) + 1, "state": "open", "merged": False, "body": "", **body}
        self.pulls.append(pull)
        return 201, self.shown(pull)

    def edit_pull(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        pull = self.pull_of(parts)
        pull.update(body)
        return self.edited, self.shown(pull)

    def list_reviews(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        chosen = [each["shown"] for each in self.reviews if str(each["pull"]) == parts[self.index]]
        return 200, self.paged(chosen, query, self.size_name)

    def list_comments(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        raise NotImplementedError

    def comment(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        raise NotImplementedError

    def set_status(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        raise NotImplementedError

    def list_statuses(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        chosen = [each.get("shown", each) for each in self.statuses if each["sha"] == parts["ref"]]
        return 200, self.paged(chosen, query, self.size_name)


@contextmanager
def served(stand_in: StandIn) -> Generator[StandIn]:
    """Serve a stand-in on a free port of this machine, and fail with whatever its description did not allow."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            parts = urlsplit(self.path)
            data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            path = parts.path.removeprefix(stand_in.prefix)
            status, headers, answer = stand_in.handle(
                self.command, path, dict(parse_qsl(parts.query)), self.headers, json.loads(data) if data else None
            )
            sent = b"" if answer is None else json.dumps(answer).encode()
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(sent))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(sent)

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _answer

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    stand_in.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield stand_in
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert stand_in.faults == [], "\n".join(stand_in.faults)
