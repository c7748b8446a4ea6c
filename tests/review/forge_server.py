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
from typing import Any, ClassVar
from urllib.parse import parse_qsl, quote, urlsplit

import msgspec

from .openapi_check import Description

TOKEN = "forge-token-0123456789abcdef"
Answer = tuple[int, Any]


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


_Route = Callable[[dict[str, str], dict[str, str], Any], Answer]


class GiteaStandIn(StandIn):
    """Gitea."""

    kind = "gitea"
    prefix = "/api/v1"
    _PULLS = "/repos/{owner}/{repo}/pulls"

    def is_allowed(self, headers: Any) -> bool:
        return headers.get("Authorization") == f"token {TOKEN}"

    def answer(self, method: str, template: str, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        name = template.removeprefix("/repos/{owner}/{repo}")
        routes: dict[tuple[str, str], _Route] = {
            ("GET", "/user"): lambda parts, query, body: (200, {"login": "quire-bot", "id": 1}),
            ("GET", "/pulls"): self._list,
            ("POST", "/pulls"): self._open,
            ("GET", "/pulls/{index}"): lambda parts, query, body: (200, self._shown(self._of(parts))),
            ("PATCH", "/pulls/{index}"): self._edit,
            ("POST", "/pulls/{index}/merge"): self._merge,
            ("GET", "/issues/{index}/comments"): self._comments,
            ("POST", "/issues/{index}/comments"): self._comment,
            ("PATCH", "/issues/comments/{id}"): self._edit_comment,
            ("POST", "/statuses/{sha}"): self._status,
            ("GET", "/commits/{ref}/statuses"): self._statuses,
        }
        route = routes.get((method, name))
        return route(parts, query, body) if route is not None else (404, {"message": "not found"})

    def _of(self, parts: dict[str, str]) -> dict[str, Any]:
        return self.pulls[int(parts["index"]) - 1]

    def _shown(self, pull: dict[str, Any]) -> dict[str, Any]:
        head = {"ref": pull["head"], "sha": pull.get("sha") or self.sha(pull["head"]), "label": pull["head"]}
        base = {"ref": pull["base"], "sha": self.sha(pull["base"]), "label": pull["base"]}
        address = f"{self.url}/{self.owner}/{self.repo}/pulls/{pull['number']}"
        told = {name: pull[name] for name in ("number", "title", "body", "state")}
        return {**told, "id": pull["number"], "html_url": address, "merged": pull["merged"], "head": head, "base": base}

    def _list(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        chosen = [
            each
            for each in self.pulls
            if query.get("state", "open") in ("all", each["state"])
            and query.get("base_branch", each["base"]) == each["base"]
        ]
        return 200, [self._shown(each) for each in self.paged(chosen, query, "limit")]

    def _open(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        if not self.sha(body["head"]) or not self.sha(body["base"]):
            return 404, {"message": "the branch does not exist", "url": self.url}
        if any(each["state"] == "open" and each["head"] == body["head"] for each in self.pulls):
            return 409, {"message": "pull request already exists for these targets", "url": self.url}
        pull = {"number": len(self.pulls) + 1, "state": "open", "merged": False, "body": "", **body}
        self.pulls.append(pull)
        return 201, self._shown(pull)

    def _edit(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        pull = self._of(parts)
        pull.update(body)
        return 201, self._shown(pull)

    def _merge(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        pull = self._of(parts)
        if body.get("head_commit_id") not in (None, self.sha(pull["head"])):
            return 409, {"message": "head out of date", "url": self.url}
        pull["sha"] = self.sha(pull["head"])
        if self.merge(pull, body.get("merge_title_field", "merge")):
            return 200, None
        return 409, {"message": "merge conflict", "url": self.url}

    def _comments(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        return 200, [each for each in self.comments if each["issue"] == parts["index"]]

    def _comment(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        comment = {"id": len(self.comments) + 1, "issue": parts["index"], "user": {"login": "quire-bot"}, **body}
        self.comments.append(comment)
        return 201, comment

    def _edit_comment(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        comment = self.comments[int(parts["id"]) - 1]
        comment.update(body)
        return 200, comment

    def _status(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        status = {"id": len(self.statuses) + 1, "sha": parts["sha"], **body, "status": body["state"]}
        del status["state"]
        self.statuses.insert(0, status)
        return 201, status

    def _statuses(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        return 200, self.paged([each for each in self.statuses if each["sha"] == parts["ref"]], query, "limit")


class GitHubStandIn(StandIn):
    """GitHub."""

    kind = "github"
    prefix = "/api/v3"

    def is_allowed(self, headers: Any) -> bool:
        return headers.get("Authorization") == f"Bearer {TOKEN}"

    def answer(self, method: str, template: str, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        name = template.removeprefix("/repos/{owner}/{repo}")
        routes: dict[tuple[str, str], _Route] = {
            ("GET", "/user"): lambda parts, query, body: (200, self._filled("/user", "get", 200, login="quire-bot")),
            ("GET", "/pulls"): self._list,
            ("POST", "/pulls"): self._open,
            ("GET", "/pulls/{pull_number}"): lambda parts, query, body: (200, self._shown(self._of(parts))),
            ("PATCH", "/pulls/{pull_number}"): self._edit,
            ("PUT", "/pulls/{pull_number}/merge"): self._merge,
            ("GET", "/issues/{issue_number}/comments"): self._comments,
            ("POST", "/issues/{issue_number}/comments"): self._comment,
            ("PATCH", "/issues/comments/{comment_id}"): self._edit_comment,
            ("POST", "/statuses/{sha}"): self._status,
            ("GET", "/commits/{ref}/statuses"): self._statuses,
        }
        route = routes.get((method, name))
        return route(parts, query, body) if route is not None else (404, {"message": "Not Found"})

    def _filled(self, path: str, method: str, status: int, **told: Any) -> dict[str, Any]:
        """An answer with all that the description requires."""
        where = path if path.startswith("/user") else f"/repos/{{owner}}/{{repo}}{path}"
        assert self.description is not None
        schema = self.description.resolved(self.description.answer_schema(where, method, status))
        items = schema.get("items")
        made = self.description.sample(items if items is not None else schema)
        return {**made, **told}

    def _of(self, parts: dict[str, str]) -> dict[str, Any]:
        return self.pulls[int(parts["pull_number"]) - 1]

    def _shown(self, pull: dict[str, Any], path: str = "/pulls/{pull_number}") -> dict[str, Any]:
        made = self._filled(path, "get", 200)
        sides = {
            "head": {"ref": pull["head"], "sha": pull.get("sha") or self.sha(pull["head"])},
            "base": {"ref": pull["base"], "sha": self.sha(pull["base"])},
        }
        told = {name: pull[name] for name in ("number", "title", "body", "state")}
        told["html_url"] = f"{self.url}/{self.owner}/{self.repo}/pull/{pull['number']}"
        told["merged_at"] = "2026-11-19T00:00:00Z" if pull["merged"] else None
        if path != "/pulls":
            told |= {"merged": pull["merged"], "mergeable_state": pull.get("mergeable_state", "clean")}
        return {**made, **told, **{name: {**made[name], **side} for name, side in sides.items()}}

    def _list(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        owner, _, head = query.get("head", "").partition(":")
        chosen = [
            each
            for each in self.pulls
            if query.get("state", "open") in ("all", each["state"])
            and query.get("base", each["base"]) == each["base"]
            and (not head or (owner, head) == (self.owner, each["head"]))
        ]
        return 200, [self._shown(each, "/pulls") for each in self.paged(chosen, query, "per_page")]

    def _open(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        message = {"message": "Validation Failed", "documentation_url": self.url}
        if not self.sha(body["head"]) or not self.sha(body["base"]):
            return 422, {**message, "errors": [{"code": "invalid", "field": "head"}]}
        if any(each["state"] == "open" and each["head"] == body["head"] for each in self.pulls):
            told = f"A pull request already exists for {self.owner}:{body['head']}."
            return 422, {**message, "errors": [{"code": "custom", "message": told}]}
        pull = {"number": len(self.pulls) + 1, "state": "open", "merged": False, "body": "", **body}
        self.pulls.append(pull)
        return 201, self._shown(pull)

    def _edit(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        pull = self._of(parts)
        pull.update(body)
        return 200, self._shown(pull)

    def _merge(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        pull = self._of(parts)
        told = {"documentation_url": self.url}
        if body.get("sha") not in (None, self.sha(pull["head"])):
            return 409, {**told, "message": "Head branch was modified. Review and try the merge again."}
        pull["sha"] = self.sha(pull["head"])
        if self.merge(pull, body.get("commit_title", "merge")):
            return 200, {"sha": pull["commit"], "merged": True, "message": "Pull Request successfully merged"}
        return 405, {**told, "message": "Pull Request is not mergeable"}

    def _comments(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        chosen = [each for each in self.comments if each["issue"] == parts["issue_number"]]
        return 200, [each["shown"] for each in self.paged(chosen, query, "per_page")]

    def _comment(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        path = "/issues/comments/{comment_id}"
        shown = self._filled(path, "get", 200, id=len(self.comments) + 1, **body)
        shown["user"] = self._filled("/user", "get", 200, login="quire-bot")
        self.comments.append({"issue": parts["issue_number"], "shown": shown, **body})
        return 201, shown

    def _edit_comment(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        comment = self.comments[int(parts["comment_id"]) - 1]
        comment["shown"].update(body)
        comment.update(body)
        return 200, comment["shown"]

    def _status(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        shown = self._filled("/commits/{ref}/statuses", "get", 200, **body)
        self.statuses.insert(0, {"sha": parts["sha"], **body, "status": body["state"], "shown": shown})
        return 201, shown

    def _statuses(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        chosen = [each["shown"] for each in self.statuses if each["sha"] == parts["ref"]]
        return 200, self.paged(chosen, query, "per_page")


class GitLabStandIn(StandIn):
    """GitLab. It publishes no description that could be carried here: what is sent is held to the fields that its documentation names."""

    kind = "gitlab"
    prefix = "/api/v4"
    _FIELDS: ClassVar[dict[str, frozenset[str]]] = {
        "list": frozenset(("state", "source_branch", "target_branch", "page", "per_page")),
        "open": frozenset(("source_branch", "target_branch", "title", "description")),
        "edit": frozenset(("title", "description")),
        "merge": frozenset(("sha", "merge_commit_message")),
        "notes": frozenset(("sort", "page", "per_page")),
        "note": frozenset(("body",)),
        "status": frozenset(("name", "state", "description", "target_url")),
        "statuses": frozenset(("page", "per_page")),
    }

    def is_allowed(self, headers: Any) -> bool:
        return headers.get("PRIVATE-TOKEN") == TOKEN

    def _done(self, method: str, path: str, query: dict[str, str], body: Any) -> Answer:
        if (method, path) == ("GET", "/user"):
            return 200, {"username": "quire-bot"}
        project = f"/projects/{quote(f'{self.owner}/{self.repo}', safe='')}"
        if not path.startswith(f"{project}/"):
            return 404, {"message": "404 Project Not Found"}
        routes: list[tuple[str, str, str, Callable[[list[str], dict[str, str], Any], Answer]]] = [
            ("GET", "/merge_requests", "list", self._list),
            ("POST", "/merge_requests", "open", self._open),
            ("GET", r"/merge_requests/(\d+)", "", lambda parts, query, body: (200, self._shown(self._of(parts)))),
            ("PUT", r"/merge_requests/(\d+)", "edit", self._edit),
            ("PUT", r"/merge_requests/(\d+)/merge", "merge", self._merge),
            ("GET", r"/merge_requests/(\d+)/notes", "notes", self._notes),
            ("POST", r"/merge_requests/(\d+)/notes", "note", self._note),
            ("PUT", r"/merge_requests/(\d+)/notes/(\d+)", "note", self._edit_note),
            ("POST", r"/statuses/(\w+)", "status", self._status),
            ("GET", r"/repository/commits/(\w+)/statuses", "statuses", self._statuses),
        ]
        for wanted, pattern, fields, route in routes:
            found = re.fullmatch(pattern, path.removeprefix(project))
            if found is not None and method == wanted:
                unknown = {*query, *(body or ())} - self._FIELDS.get(fields, frozenset())
                self.faults += [f"{method} {path}: unknown field {name}" for name in sorted(unknown)]
                return route(list(found.groups()), query, body)
        self.faults.append(f"{method} {path}: there is no such operation")
        return 404, {"error": "404 Not Found"}

    def _of(self, parts: list[str]) -> dict[str, Any]:
        return self.pulls[int(parts[0]) - 1]

    def _shown(self, pull: dict[str, Any]) -> dict[str, Any]:
        state = "merged" if pull["merged"] else "opened" if pull["state"] == "open" else "closed"
        return {
            "iid": pull["number"],
            "web_url": f"{self.url}/{self.owner}/{self.repo}/-/merge_requests/{pull['number']}",
            "title": pull["title"],
            "description": pull["body"],
            "state": state,
            "source_branch": pull["head"],
            "target_branch": pull["base"],
            "sha": pull.get("sha") or self.sha(pull["head"]),
            "detailed_merge_status": "mergeable",
        }

    def _list(self, parts: list[str], query: dict[str, str], body: Any) -> Answer:
        wanted = query.get("source_branch"), query.get("target_branch")
        chosen = [each for each in self.pulls if each["state"] == "open" and (each["head"], each["base"]) == wanted]
        return 200, [self._shown(each) for each in self.paged(chosen, query, "per_page")]

    def _open(self, parts: list[str], query: dict[str, str], body: Any) -> Answer:
        head, base = body["source_branch"], body["target_branch"]
        if any(each["state"] == "open" and each["head"] == head for each in self.pulls):
            return 409, {"message": ["Another open merge request already exists for this source branch: !1"]}
        pull = {"number": len(self.pulls) + 1, "state": "open", "merged": False, "head": head, "base": base}
        self.pulls.append(pull | {"title": body["title"], "body": body.get("description", "")})
        return 201, self._shown(self.pulls[-1])

    def _edit(self, parts: list[str], query: dict[str, str], body: Any) -> Answer:
        pull = self._of(parts)
        pull["body"] = body.get("description", pull["body"])
        pull["title"] = body.get("title", pull["title"])
        return 200, self._shown(pull)

    def _merge(self, parts: list[str], query: dict[str, str], body: Any) -> Answer:
        pull = self._of(parts)
        if body["sha"] != self.sha(pull["head"]):
            return 409, {"message": "SHA does not match HEAD of source branch"}
        pull["sha"] = body["sha"]
        if self.merge(pull, body["merge_commit_message"]):
            return 200, self._shown(pull)
        return 405, {"message": "405 Method Not Allowed"}

    def _notes(self, parts: list[str], query: dict[str, str], body: Any) -> Answer:
        return 200, self.paged([each for each in self.comments if each["issue"] == parts[0]], query, "per_page")

    def _note(self, parts: list[str], query: dict[str, str], body: Any) -> Answer:
        self.comments.append(
            {"id": len(self.comments) + 1, "issue": parts[0], "author": {"username": "quire-bot"}, **body}
        )
        return 201, self.comments[-1]

    def _edit_note(self, parts: list[str], query: dict[str, str], body: Any) -> Answer:
        self.comments[int(parts[1]) - 1].update(body)
        return 200, self.comments[int(parts[1]) - 1]

    def _status(self, parts: list[str], query: dict[str, str], body: Any) -> Answer:
        assert body["state"] in ("pending", "running", "success", "failed", "canceled")
        self.statuses.insert(0, {"sha": parts[0], **body, "status": body["state"]})
        return 201, self.statuses[0]

    def _statuses(self, parts: list[str], query: dict[str, str], body: Any) -> Answer:
        return 200, self.paged([each for each in self.statuses if each["sha"] == parts[0]], query, "per_page")
