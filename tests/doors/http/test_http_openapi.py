"""What the API says of itself is what it does: each route is described, with what it takes, answers and refuses."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from quire.doors.http.app import ROUTES
from quire.doors.http.openapi import FAULTS, TAGS, about, describe

from .http_clients import Client

SAID = describe(about(ROUTES))
OPERATIONS = [(each, SAID["paths"][each.path][each.method.lower()]) for each in about(ROUTES)]


async def test_the_server_gives_its_description_to_who_has_a_token(ada: Client, nobody: Client) -> None:
    assert await ada.ask("GET", "/api/openapi.json") == json.loads(json.dumps(SAID))
    await nobody.ask("GET", "/api/openapi.json", 401)


def test_every_operation_says_what_it_is_for_and_all_that_it_answers(subtests: pytest.Subtests) -> None:
    for each, said in OPERATIONS:
        with subtests.test(operation=each.id):
            assert said["operationId"] == each.id
            assert len(said["summary"]) > 10
            assert said["summary"].endswith((".", "?")), "a sentence"
            assert said["description"]
            assert said["tags"] == [each.tag]
            assert each.tag in TAGS
            wanted = {400, 404, 405, 409, 413, 415, 422, 503, *(() if each.open else (401, 403, 429))}
            assert {int(status) for status in said["responses"]} > wanted
            assert said.get("security") == ([] if each.open else None)
            names = re.findall(r"{(\w+)}", each.path)
            assert [parameter["name"] for parameter in said["parameters"] if parameter["in"] == "path"] == names


def test_names_of_operations_are_used_once() -> None:
    assert len({each.id for each, _ in OPERATIONS}) == len(OPERATIONS)


def test_every_reference_leads_somewhere_and_every_body_is_closed() -> None:
    for place in set(re.findall(r'"\$ref": "#/([^"]+)"', json.dumps(SAID))):
        found: Any = SAID
        for part in place.split("/"):
            found = found[part]
        assert found
    for each, said in OPERATIONS:
        if each.body is not None and not isinstance(each.body, str):
            name = said["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
            assert SAID["components"]["schemas"][name]["additionalProperties"] is False, each.id


def test_faults_have_one_shape_and_tokens_one_scheme() -> None:
    for status in FAULTS:
        content = SAID["components"]["responses"][str(status)]["content"]
        assert content == {"application/json": {"schema": {"$ref": "#/components/schemas/Faulty"}}}
    assert SAID["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert SAID["security"] == [{"token": []}, {"browser": [], "page": []}], "a cookie alone opens nothing"


def test_drafts_are_described_with_every_event() -> None:
    schemas = SAID["components"]["schemas"]
    assert schemas["Submission"]["properties"]["drafts"]["items"] == {"$ref": "#/components/schemas/Draft"}
    events = schemas["Draft"]["properties"]["event"]["anyOf"]
    assert {"$ref": "#/components/schemas/CellAdded"} in events
    assert schemas["CellAdded"]["properties"]["type"] == {"enum": ["cell_added"]}
