"""The stand-ins for the forges: Gitea and GitHub, each held to its own description, and GitLab."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, ClassVar
from urllib.parse import quote

from .stand_in import BOT, TOKEN, Answer, RepositoryStandIn, Route, StandIn, served

__all__ = ["TOKEN", "GitHubStandIn", "GitLabStandIn", "GiteaStandIn", "StandIn", "served"]


class GiteaStandIn(RepositoryStandIn):
    """Gitea."""

    kind = "gitea"
    prefix = "/api/v1"
    index, issue, size_name, edited = "index", "index", "limit", 201

    def is_allowed(self, headers: Any) -> bool:
        return headers.get("Authorization") == f"token {TOKEN}"

    def routes(self) -> dict[tuple[str, str], Route]:
        return {
            **super().routes(),
            ("GET", "/user"): lambda parts, query, body: (200, {"login": BOT, "id": 1}),
            ("POST", "/pulls/{index}/merge"): self._merge,
            ("GET", "/pulls/{index}/reviews/{id}/comments"): self._list_lines,
            ("PATCH", "/issues/comments/{id}"): self._edit_comment,
        }

    def write_comment(self, author: str, body: str, number: int = 1) -> None:
        times = dict.fromkeys(("created_at", "updated_at"), self.now())
        comment = {"id": len(self.comments) + 1, "issue": str(number), "user": {"login": author}, "body": body}
        self.comments.append(comment | times)

    def write_review(self, author: str, body: str, *, asks_for_changes: bool, number: int = 1) -> None:
        state = "REQUEST_CHANGES" if asks_for_changes else "COMMENT"
        shown = {"id": len(self.reviews) + 1, "state": state, "body": body, "user": {"login": author}}
        shown |= {"submitted_at": self.now(), "comments_count": 0}
        self.reviews.append({"pull": number, "shown": shown, "lines": []})

    def write_on_line(self, author: str, body: str, path: str, line: int) -> None:
        """Comment on a line, in the review written last."""
        review = self.reviews[-1]
        comment = {"id": 100 + len(review["lines"]), "body": body, "user": {"login": author}, "path": path}
        review["lines"].append(comment | {"position": line, "created_at": self.now()})
        review["shown"]["comments_count"] += 1

    def shown(self, pull: dict[str, Any]) -> dict[str, Any]:
        head = {"ref": pull["head"], "sha": pull.get("sha") or self.sha(pull["head"]), "label": pull["head"]}
        base = {"ref": pull["base"], "sha": self.sha(pull["base"]), "label": pull["base"]}
        address = f"{self.url}/{self.owner}/{self.repo}/pulls/{pull['number']}"
        told = {name: pull[name] for name in ("number", "title", "body", "state")}
        return {**told, "id": pull["number"], "html_url": address, "merged": pull["merged"], "head": head, "base": base}

    def list_pulls(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        chosen = [
            each
            for each in self.pulls
            if query.get("state", "open") in ("all", each["state"])
            and query.get("base_branch", each["base"]) == each["base"]
        ]
        return 200, [self.shown(each) for each in self.paged(chosen, query, "limit")]

    def fault_of(self, body: Any) -> Answer | None:
        if not self.sha(body["head"]) or not self.sha(body["base"]):
            return 404, {"message": "the branch does not exist", "url": self.url}
        if any(each["state"] == "open" and each["head"] == body["head"] for each in self.pulls):
            return 409, {"message": "pull request already exists for these targets", "url": self.url}
        return None

    def _merge(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        pull = self.pull_of(parts)
        if body.get("head_commit_id") not in (None, self.sha(pull["head"])):
            return 409, {"message": "head out of date", "url": self.url}
        pull["sha"] = self.sha(pull["head"])
        if self.merge(pull, body.get("merge_title_field", "merge")):
            return 200, None
        return 409, {"message": "merge conflict", "url": self.url}

    def list_comments(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        return 200, [each for each in self.comments if each["issue"] == parts["index"]]

    def comment(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        self.write_comment(BOT, body["body"], int(parts["index"]))
        return 201, self.comments[-1]

    def _edit_comment(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        comment = self.comments[int(parts["id"]) - 1]
        comment.update(body)
        return 200, comment

    def _list_lines(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        return 200, self.reviews[int(parts["id"]) - 1]["lines"]

    def set_status(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        told = {name: value for name, value in body.items() if name != "state"}
        self.statuses.insert(0, {"id": len(self.statuses) + 1, "sha": parts["sha"], **told, "status": body["state"]})
        return 201, self.statuses[0]


class GitHubStandIn(RepositoryStandIn):
    """GitHub."""

    kind = "github"
    prefix = "/api/v3"
    index, issue, size_name = "pull_number", "issue_number", "per_page"

    def is_allowed(self, headers: Any) -> bool:
        return headers.get("Authorization") == f"Bearer {TOKEN}"

    def routes(self) -> dict[tuple[str, str], Route]:
        return {
            **super().routes(),
            ("GET", "/user"): lambda parts, query, body: (200, self._user(BOT)),
            ("PUT", "/pulls/{pull_number}/merge"): self._merge,
            ("PATCH", "/issues/comments/{comment_id}"): self._edit_comment,
        }

    def write_comment(self, author: str, body: str, number: int = 1) -> None:
        times = dict.fromkeys(("created_at", "updated_at"), self.now())
        id = len(self.comments) + 1
        shown = self._filled("/issues/comments/{comment_id}", "get", 200, id=id, body=body, **times)
        shown["user"] = self._user(author)
        self.comments.append({"issue": str(number), "shown": shown, "body": body})

    def write_review(self, author: str, body: str, *, asks_for_changes: bool, number: int = 1) -> None:
        state = "CHANGES_REQUESTED" if asks_for_changes else "COMMENTED"
        told = {"id": len(self.reviews) + 1, "state": state, "body": body, "submitted_at": self.now()}
        shown = self._filled("/pulls/{pull_number}/reviews", "get", 200, **told)
        self.reviews.append({"pull": number, "shown": {**shown, "user": self._user(author)}})

    def _user(self, login: str) -> dict[str, Any]:
        return self._filled("/user", "get", 200, login=login)

    def _filled(self, path: str, method: str, status: int, **told: Any) -> dict[str, Any]:
        """An answer with all that the description requires."""
        where = path if path.startswith("/user") else f"/repos/{{owner}}/{{repo}}{path}"
        assert self.description is not None
        schema = self.description.resolved(self.description.answer_schema(where, method, status))
        items = schema.get("items")
        made = self.description.sample(items if items is not None else schema)
        return {**made, **told}

    def shown(self, pull: dict[str, Any], path: str = "/pulls/{pull_number}") -> dict[str, Any]:
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

    def list_pulls(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        owner, _, head = query.get("head", "").partition(":")
        chosen = [
            each
            for each in self.pulls
            if query.get("state", "open") in ("all", each["state"])
            and query.get("base", each["base"]) == each["base"]
            and (not head or (owner, head) == (self.owner, each["head"]))
        ]
        return 200, [self.shown(each, "/pulls") for each in self.paged(chosen, query, "per_page")]

    def fault_of(self, body: Any) -> Answer | None:
        message = {"message": "Validation Failed", "documentation_url": self.url}
        if not self.sha(body["head"]) or not self.sha(body["base"]):
            return 422, {**message, "errors": [{"code": "invalid", "field": "head"}]}
        if any(each["state"] == "open" and each["head"] == body["head"] for each in self.pulls):
            told = f"A pull request already exists for {self.owner}:{body['head']}."
            return 422, {**message, "errors": [{"code": "custom", "message": told}]}
        return None

    def _merge(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        pull = self.pull_of(parts)
        told = {"documentation_url": self.url}
        if body.get("sha") not in (None, self.sha(pull["head"])):
            return 409, {**told, "message": "Head branch was modified. Review and try the merge again."}
        pull["sha"] = self.sha(pull["head"])
        if self.merge(pull, body.get("commit_title", "merge")):
            return 200, {"sha": pull["commit"], "merged": True, "message": "Pull Request successfully merged"}
        return 405, {**told, "message": "Pull Request is not mergeable"}

    def list_comments(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        chosen = [each["shown"] for each in self.comments if each["issue"] == parts["issue_number"]]
        return 200, self.paged(chosen, query, "per_page")

    def comment(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        self.write_comment(BOT, body["body"], int(parts["issue_number"]))
        return 201, self.comments[-1]["shown"]

    def _edit_comment(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        comment = self.comments[int(parts["comment_id"]) - 1]
        comment["shown"].update(body)
        comment.update(body)
        return 200, comment["shown"]

    def set_status(self, parts: dict[str, str], query: dict[str, str], body: Any) -> Answer:
        shown = self._filled("/commits/{ref}/statuses", "get", 200, **body)
        self.statuses.insert(0, {"sha": parts["sha"], **body, "status": body["state"], "shown": shown})
        return 201, shown


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

    def write_comment(self, author: str, body: str, number: int = 1) -> None:
        note = {"id": len(self.comments) + 1, "issue": str(number), "author": {"username": author}, "body": body}
        self.comments.append({**note, "created_at": self.now()})

    def write_review(self, author: str, body: str, *, asks_for_changes: bool, number: int = 1) -> None:
        self.write_comment(author, body, number)  # of a review GitLab keeps notes, and what it says itself

    def _done(self, method: str, path: str, query: dict[str, str], body: Any) -> Answer:
        if (method, path) == ("GET", "/user"):
            return 200, {"username": BOT}
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
        self.write_comment(BOT, body["body"], int(parts[0]))
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
