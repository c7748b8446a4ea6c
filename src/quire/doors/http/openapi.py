"""What the API is, for programs: OpenAPI 3.1, made from the routes and the types that they read and answer.

`GET /api/openapi.json` answers with it, docs/reference/http.md has a table of it, and a test sends a server whatever it
allows, and what it does not.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence
from typing import Any, cast

import msgspec
from litestar.handlers import HTTPRouteHandler

from ... import __version__
from ...core.events import Draft
from ...workspace.wire.frames import Faulty
from .browser_session import PAGE_KEY_HEADER
from .error_responses import JSON
from .route import RouteInfo

FAULTS = {
    400: "The request does not have the shape that is described here.",
    401: "There is no token, or one that opens nothing.",
    403: "A rule said no: the token does not allow it, or the request comes from a page of another site.",
    404: "The thing that was named is not there.",
    405: "This path is not for this method.",
    408: "The body came too slowly.",
    409: "Somebody was first: read on and try again.",
    413: "The body is larger than this server takes.",
    415: "The body is compressed, or not of the type that is read here.",
    421: "This server does not answer to that name.",
    422: "What was sent makes no sense.",
    424: "A cell raised.",
    429: "More requests than this server takes: wait for as long as `Retry-After` says.",
    500: "The server failed. Its log says why.",
    503: "The store is gone, full or out of reach.",
}
"""Every status that says no, and what it means. Each has a `Faulty` for its body."""
OF_TOKENS = (401, 403, 429)
TAGS = {
    "server": "The server itself.",
    "overview": "What a home page shows, and a search over all notebooks.",
    "identity": "Who somebody is here, and who may come in.",
    "workspace": "What is true across notebooks.",
    "logs": "Logs: what stands in them, and writing into them.",
    "notebooks": "Notebooks as they are, and cells that are to run.",
    "runs": "Runs, and what they came to.",
    "schedules": "Notebooks that run by the clock.",
    "runtimes": "Runtimes of a notebook: how they are, what their cells ask, stopping them.",
    "proposals": "What waits for somebody's yes.",
    "reviews": "Changes that somebody looks at, and what is said about them.",
    "files": "Files of the server's folder.",
    "blobs": "Large bytes, by their hash.",
    "carrying": "Whole notebooks, out and in.",
    "trust": "Queries, verification and redaction.",
    "leases": "The right to be the only one who does something.",
}
ABOUT = """
A notebook is a log of attributed events. Who does something is decided by the token of a request, and by nothing else.
Every fault is answered in one shape, with a message that names the thing, the fault and the next step.
"""
_REFERENCE = "#/components/schemas/{name}"
_COMPONENTS = _REFERENCE.removesuffix("{name}")
_PUBLISHED = {
    "AcceptBody": "Accepting",
    "BundleContents": "Carried",
    "ErrorBody": "quire.workspace.wire.Fault",
    "Fault": "quire.core.events.Fault",
    "FeedPage": "Fed",
    "FindSecretBody": "Looking",
    "HeldClaim": "Held",
    "LogPage": "Page",
    "PausedActor": "Paused",
    "Prompt": "Asked",
    "PruneBody": "Pruning",
    "RedactBody": "Redacting",
    "ReleaseBody": "Releasing",
    "RenewBody": "Renewing",
    "RunEntry": "Listed",
    "RunRecord": "Record",
    "RunStarted": "quire.core.events.RunStarted",
    "RunStartedBody": "quire.workspace.bodies.RunStarted",
    "RuntimeHealth": "quire.workspace.speech.Health",
    "SecretEvents": "Holding",
    "ServerHealth": "quire.doors.http.health.Health",
    "SubmissionOutcome": "Submitted",
    "ValuePair": "Pair",
    "VerifyBody": "Verifying",
    "WaitingItem": "Waiting",
}
"""Class to the name of its component, which stays when the class is renamed: clients are generated from it."""
_NAMED = r"#/components/schemas/([\w.]+)"
_ID = "^[A-Za-z0-9][A-Za-z0-9_.:@-]{0,63}$"
PATTERNS = {"hash": "^[0-9a-f]{64}$", "name": "^[^/]{1,400}$"}
"""What the parameters of a path look like; all others are ids."""


def about(routes: Iterable[HTTPRouteHandler]) -> list[RouteInfo]:
    """What each route says of itself."""
    return [cast("RouteInfo", route.opt["about"]) for route in routes]


def describe(routes: Sequence[RouteInfo]) -> dict[str, Any]:
    """The whole description."""
    schemas, components = _schemas(routes)
    paths: dict[str, dict[str, Any]] = {}
    for each in routes:
        paths.setdefault(each.path, {})[each.method.lower()] = _operation(each, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Quire", "version": __version__, "description": ABOUT.strip()},
        "security": [{"token": []}, {"browser": [], "page": []}],
        "tags": [{"name": name, "description": told} for name, told in TAGS.items()],
        "paths": paths,
        "components": {
            "schemas": components,
            "responses": {str(status): _fault(status) for status in FAULTS},
            "securitySchemes": _schemes(),
        },
    }


def _schemes() -> dict[str, Any]:
    return {
        "token": {"type": "http", "scheme": "bearer", "description": "A token: `quire token new` makes one."},
        "browser": {
            "type": "apiKey",
            "in": "cookie",
            "name": "quire-PORT",
            "description": "One half of a browser's secret. What changes something must come from a page of the server.",
        },
        "page": {
            "type": "apiKey",
            "in": "header",
            "name": PAGE_KEY_HEADER,
            "description": "The other half, `page_key` of the answer to the sign-in. A cookie alone opens nothing.",
        },
    }


def _fault(status: int) -> dict[str, Any]:
    content = {JSON: {"schema": {"$ref": _REFERENCE.format(name="Faulty")}}}
    return {"description": FAULTS[status], "content": content}


# ---- Types


def _schemas(routes: Sequence[RouteInfo]) -> tuple[dict[Any, Any], dict[str, Any]]:
    """The schema of each type that a route names, and the parts that they share."""
    kinds: dict[Any, None] = {Faulty: None, Draft: None}
    for each in routes:
        kinds |= {kind: None for kind in (each.query, each.body, each.answer) if _is_type(kind)}
    found, components = msgspec.json.schema_components(tuple(kinds), ref_template=_REFERENCE)
    _complete(components)
    components = {_PUBLISHED.get(name, name): _published(each) for name, each in components.items()}
    return dict(zip(kinds, map(_published, found), strict=True)), components


def _published(schema: Any) -> Any:
    """Return a schema with the names that clients know its components by."""
    match schema:
        case dict():
            made = {key: _published(each) for key, each in cast("dict[str, Any]", schema).items()}
            if isinstance(title := made.get("title"), str) and (name := _PUBLISHED.get(title)) is not None:
                made["title"] = name.rpartition(".")[2]
            return made
        case list():
            return [_published(each) for each in cast("list[Any]", schema)]
        case str() if schema.startswith(_COMPONENTS):
            name = schema.removeprefix(_COMPONENTS)
            return _COMPONENTS + _PUBLISHED.get(name, name)
        case _:
            return schema


def _is_type(kind: Any) -> bool:
    return kind is not None and not isinstance(kind, str | tuple)


def _complete(components: dict[str, Any]) -> None:
    """Say of what is read by hand how it is read: drafts are read by the codec, and events travel as they are stored."""
    components["Submission"]["properties"]["drafts"]["items"] = {"$ref": _REFERENCE.format(name="Draft")}
    for name in _reachable(components, "Draft"):
        components[name]["additionalProperties"] = False
    entry = components["EntryOnWire"]["properties"]["event"]
    entry.clear()
    entry |= {"type": "object", "properties": {"type": {"type": "string"}}, "required": ["type"]}


def _reachable(components: dict[str, Any], name: str) -> set[str]:
    """A component, and all that it is made of."""
    found, waiting = {name}, [name]
    while waiting:
        inside = set(re.findall(_NAMED, msgspec.json.encode(components[waiting.pop()]).decode()))
        waiting += inside - found
        found |= inside
    return found


# ---- Operations


def _operation(each: RouteInfo, schemas: dict[Any, Any]) -> dict[str, Any]:
    summary, _, more = inspect.cleandoc(each.told).partition("\n")
    said: dict[str, Any] = {
        "operationId": each.id,
        "summary": summary,
        "description": re.sub(r"(?<!\n)\n(?!\n)", " ", more.strip()) or summary,
        "tags": [each.tag],
        "parameters": [*_path_parameters(each.path), *_query_parameters(each, schemas)],
        "responses": _responses(each, schemas),
    }
    if each.open:
        said["security"] = []
    if each.body is not None:
        said["requestBody"] = _request_body(each.body, schemas)
    return said


def _path_parameters(path: str) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "string", "pattern": PATTERNS.get(name, _ID)},
        }
        for name in re.findall(r"{(\w+)}", path)
    ]


def _query_parameters(each: RouteInfo, schemas: dict[Any, Any]) -> list[dict[str, Any]]:
    if each.query is None:
        return []
    fields = {field.name: field for field in msgspec.structs.fields(each.query)}
    shape = _fields(each.query)
    return [
        {"name": name, "in": "query", "required": field.required, "schema": shape[name]}
        for name, field in fields.items()
    ]


def _fields(kind: Any) -> dict[str, Any]:
    """The schemas of the fields. A parameter that may be left out is left out: there is no null in an address."""
    (_,), components = msgspec.json.schema_components((kind,), ref_template=_REFERENCE)
    fields: dict[str, Any] = components[kind.__name__]["properties"]
    for field in fields.values():
        field.pop("default", None)
        if "anyOf" in field and {"type": "null"} in field["anyOf"]:
            (rest,) = [each for each in field.pop("anyOf") if each != {"type": "null"}]
            field |= rest
        if "enum" in field:
            field["enum"] = [each for each in field["enum"] if each is not None]
    return fields


def _request_body(body: Any, schemas: dict[Any, Any]) -> dict[str, Any]:
    if isinstance(body, str):
        return {"required": False, "content": {body: {"schema": {"type": "string", "format": "binary"}}}}
    required = any(field.required for field in msgspec.structs.fields(body))
    return {"required": required, "content": {JSON: {"schema": schemas[body]}}}


def _file(media: str) -> dict[str, Any]:
    """The description of an answer that is a file: bytes, but for JSON, which clients read as such."""
    return {"schema": {"type": "object"} if media.endswith("+json") else {"type": "string", "format": "binary"}}


def _responses(each: RouteInfo, schemas: dict[Any, Any]) -> dict[str, Any]:
    said: dict[str, Any] = {}
    if each.answer is None:
        said["204" if each.method == "POST" else "200"] = {"description": "It is done."}
    else:
        is_file = isinstance(each.answer, tuple)
        content = (
            {media: _file(media) for media in each.answer} if is_file else {JSON: {"schema": schemas[each.answer]}}
        )
        said["200"] = {"description": "It is done.", "content": content}
    for status, told in each.answers.items():
        said[str(status)] = {"description": told}
    for status in FAULTS:
        if not each.open or status not in OF_TOKENS or each.body is not None:
            said[str(status)] = {"$ref": f"#/components/responses/{status}"}
    return said
