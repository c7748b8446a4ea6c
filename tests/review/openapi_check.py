"""Requests and answers held to the description of an API that its makers published."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote

from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

FOLDER = Path(__file__).with_name("openapi")
_DOC = "urn:api"


class Description:
    """The OpenAPI description of an API."""

    def __init__(self, name: str) -> None:
        self.doc: dict[str, Any] = _with_null(json.loads((FOLDER / f"{name}.json").read_text()))
        resource = cast("Any", Resource).from_contents(self.doc, default_specification=DRAFT202012)
        self._registry: Any = cast("Any", Registry)().with_resource(_DOC, resource)
        # Of two templates that a path fits, the one with fewer parts that may be anything is meant.
        self._paths = sorted(
            ((_pattern(path), path) for path in self.doc["paths"]), key=lambda each: each[1].count("{")
        )

    def operation(self, method: str, path: str) -> tuple[str, dict[str, str]] | None:
        """The template of a path and what stands for its parts; None: the API has no such operation."""
        for pattern, template in self._paths:
            found = pattern.fullmatch(path)
            if found is not None and method.lower() in self.doc["paths"][template]:
                return template, {name: unquote(value) for name, value in found.groupdict().items()}
        return None

    def faults_of_request(
        self, method: str, template: str, parts: Mapping[str, str], query: Mapping[str, str], body: Any
    ) -> Iterator[str]:
        """What of a request the description does not allow: also fields and parameters that it does not know."""
        operation = self.doc["paths"][template][method.lower()]
        known = {(each["in"], each["name"]): each for each in map(self.resolved, operation.get("parameters", ()))}
        for place, given in (("path", parts), ("query", query)):
            for name, text in given.items():
                parameter = known.get((place, name))
                if parameter is None:
                    yield f"{method} {template}: unknown {place} parameter {name}"
                else:
                    yield from self._faults(_of_type(text, parameter["schema"]), parameter["schema"], name)
        wanted = self.resolved(operation.get("requestBody", {}))
        if body is None:
            if wanted.get("required"):
                yield f"{method} {template}: the body is missing"
            return
        if not wanted:
            yield f"{method} {template}: takes no body"
            return
        schema = wanted["content"]["application/json"]["schema"]
        yield from self._faults(body, schema, "body")
        resolved = self.resolved(schema)
        options = [resolved, *map(self.resolved, resolved.get("anyOf", ()))]
        unknown = set(body) - {name for each in options for name in each.get("properties", {})}
        yield from (f"{method} {template}: unknown field {name}" for name in sorted(unknown))

    def faults_of_answer(self, method: str, template: str, status: int, body: Any) -> Iterator[str]:
        """What of an answer the description does not allow."""
        answers = self.doc["paths"][template][method.lower()]["responses"]
        if str(status) not in answers:
            yield f"{method} {template}: {status} is no answer of it"
            return
        content = self.resolved(answers[str(status)]).get("content", {})
        if content:
            yield from self._faults(body, next(iter(content.values()))["schema"], f"answer {status}")

    def resolved(self, value: dict[str, Any]) -> dict[str, Any]:
        """What a reference leads to."""
        while "$ref" in value:
            target: Any = self.doc
            for part in value["$ref"].removeprefix("#/").split("/"):
                target = target[part]
            value = target
        return value

    def sample(self, schema: dict[str, Any], depth: int = 0) -> Any:
        """The least that fits a schema: what is required, and no more."""
        schema = self.resolved(schema)
        for key in ("allOf", "anyOf", "oneOf"):
            if key in schema:
                options = [each for each in schema[key] if each.get("type") != "null"]
                return None if len(options) < len(schema[key]) else self.sample(options[0], depth)
        if "enum" in schema:
            return schema["enum"][0]
        kind = schema.get("type", "object")
        if isinstance(kind, list):
            return None
        match kind:
            case "object":
                properties = schema.get("properties", {})
                return {name: self.sample(properties[name], depth + 1) for name in schema.get("required", ())}
            case "array":
                return []
            case "integer" | "number":
                return 1
            case "boolean":
                return False
            case _:
                return _TEXTS.get(schema.get("format", ""), "x")

    def answer_schema(self, path: str, method: str, status: int) -> dict[str, Any]:
        """The schema of an answer."""
        found = self.resolved(self.doc["paths"][path][method]["responses"][str(status)])
        return next(iter(found["content"].values()))["schema"]

    def _faults(self, value: Any, schema: dict[str, Any], what: str) -> Iterator[str]:
        validator = cast("Any", Draft202012Validator)(
            _absolute(schema), registry=self._registry, format_checker=FormatChecker(("date-time",))
        )
        for error in validator.iter_errors(value):
            yield f"{what}: {error.json_path}: {error.message[:300]}"


_TEXTS = {"uri": "http://127.0.0.1/x", "date-time": "2026-11-19T00:00:00Z"}


def _pattern(template: str) -> re.Pattern[str]:
    # A part of a path is one part: what is inside it is percent-encoded.
    return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(template)))


def _of_type(text: str, schema: dict[str, Any]) -> Any:
    return int(text) if schema.get("type") == "integer" and text.isdecimal() else text


def _absolute(value: Any) -> Any:
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {
            key: f"{_DOC}{each}" if key == "$ref" and isinstance(each, str) else _absolute(each)
            for key, each in fields.items()
        }
    return [_absolute(each) for each in cast("list[Any]", value)] if isinstance(value, list) else value


def _with_null(value: Any) -> Any:
    """`nullable` of OpenAPI 3.0 in words of JSON Schema."""
    if isinstance(value, list):
        return [_with_null(each) for each in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    made = {key: _with_null(each) for key, each in cast("dict[str, Any]", value).items()}
    if made.pop("nullable", False) is True:
        return {"anyOf": [made, {"type": "null"}]}
    return made
