"""The YAML between `---` lines at the top of a Markdown file, as notebook metadata and back.

What stands under `jupyter` is nbformat's metadata; every other key is ours and lives in
its `quire`. JSON has to carry all of it, so dates and the like become tagged values. YAML
is imported when there is some.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

from ...core.errors import BadInput
from ...core.sheet.equality import same
from ...core.sheet.sheet import OURS
from ...core.values import Json, tag, untag

if TYPE_CHECKING:
    import yaml

JUPYTER = "jupyter"
_NOT_AT_THE_TOP = (JUPYTER, "kernelspec")
"""Names that mean something else there: the second is how a MyST notebook is told from a logbook."""
REQUIRED = "..."
"""How a parameter without a default is kept: YAML's `name:` alone would read as null."""
MOST_NODES = 100_000
"""Past this it is no frontmatter but an attack: aliases of aliases of aliases."""
MOST_LEVELS = 100
MOST_BRACKETS = 10_000
"""YAML's own reader takes the square of their depth."""
Place: TypeAlias = Literal["top", "parameters", "declaration", "elsewhere"]
"""Where an object stands: at the top, as `parameters`, as one of these, or anywhere else."""

_FRONT = re.compile(r"---[ \t\r]*\n(?P<yaml>(?:[^\n]*\n)*?)(?:---|\.\.\.)[ \t\r]*(?:\n|\Z)")


class Front(NamedTuple):
    """The top of a file."""

    text: str = ""
    """With both lines of `---` and the line end after them; empty when there is none."""
    yaml: str = ""
    metadata: dict[str, Json] = {}  # noqa: RUF012 - read only


def read_front(text: str, path: str) -> Front:
    """Return what stands at the top of a file: nothing, when it does not begin with `---`."""
    match = _FRONT.match(text) if text.startswith("---") else None
    if match is None:
        return Front()
    return Front(match[0], match["yaml"], _metadata(_mapping(match["yaml"], path), path))


def _mapping(text: str, path: str) -> dict[str, Json]:
    if not text.strip():
        return {}
    root = _compose(text, path)
    if root is None:
        return {}
    if not _is_mapping(root):
        raise _broken(path, root, "the frontmatter has no names. Write `name: value` lines between the `---` lines")
    return _NodeReader(path).mapping(root, 0, "top")


def _compose(text: str, path: str) -> yaml.Node | None:
    import yaml

    if text.count("[") + text.count("{") > MOST_BRACKETS:
        raise BadInput(f"{path}: the frontmatter is too large.")
    try:
        return cast("Any", yaml).compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 2 if mark else 1
        raise BadInput(f"{path}: line {line}: the frontmatter is not YAML: {error.problem or error}.") from None
    except (yaml.YAMLError, UnicodeError, RecursionError) as error:
        told = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadInput(f"{path}: the frontmatter is not YAML: {told}.") from None


def _is_mapping(node: yaml.Node) -> bool:
    return isinstance(node.value, list) and node.tag in ("tag:yaml.org,2002:map", "tag:yaml.org,2002:omap")


def _broken(path: str, node: yaml.Node, fault: str) -> BadInput:
    line = node.start_mark.line + 2 if node.start_mark else 1
    return BadInput(f"{path}: line {line}: {fault}.")


def _metadata(fields: dict[str, Json], path: str) -> dict[str, Json]:
    """Notebook metadata from what the frontmatter says."""
    rest: Any = fields.pop(JUPYTER, {})
    if rest is None or rest == REQUIRED:
        rest = {}
    if not isinstance(rest, dict):
        raise BadInput(f"{path}: `{JUPYTER}:` in the frontmatter holds the notebook's metadata: names and values.")
    metadata = dict(cast("dict[str, Json]", rest))
    inner: Any = metadata.get(OURS)
    if fields:
        metadata[OURS] = {**(cast("dict[str, Json]", inner) if isinstance(inner, dict) else {}), **fields}
    return metadata


class _NodeReader:
    """Turns YAML's nodes into JSON. Not YAML's own way: keys stay as they are written, none stands twice."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._count = 0

    def mapping(self, node: yaml.Node, level: int, place: Place = "elsewhere") -> dict[str, Json]:
        """An object."""
        fields: dict[str, Json] = {}
        for key, value in cast("list[tuple[yaml.Node, yaml.Node]]", node.value):
            if not isinstance(key.value, str):
                raise _broken(self._path, key, "a name in the frontmatter is text, not a list or an object")
            if key.value in fields:
                raise _broken(self._path, key, f"{key.value!r} stands twice. Keep one")
            may_be_nothing = place == "parameters" or (place == "declaration" and key.value == "default")
            if may_be_nothing and _is_nothing(value):
                fields[key.value] = REQUIRED
            else:
                fields[key.value] = self.value(value, level + 1, _below(place, key.value))
        return fields

    def value(self, node: yaml.Node, level: int, place: Place = "elsewhere") -> Json:
        """Anything."""
        self._count += 1
        if self._count > MOST_NODES or level > MOST_LEVELS:
            raise _broken(self._path, node, "the frontmatter is too large or nested too deep")
        if _is_mapping(node):
            return self.mapping(node, level, place)
        if isinstance(node.value, str):
            return self._scalar(node)
        if node.tag == "tag:yaml.org,2002:seq":
            return [self.value(each, level + 1) for each in cast("list[yaml.Node]", node.value)]
        if node.tag == "tag:yaml.org,2002:set":
            pairs = cast("list[tuple[yaml.Node, yaml.Node]]", node.value)
            return {"$set": [self.value(key, level + 1) for key, _ in pairs]}
        raise self._unknown(node)

    def _scalar(self, node: yaml.Node) -> Json:
        kind = node.tag.removeprefix("tag:yaml.org,2002:")
        # 12:30 is a time to whoever wrote it; to YAML 1.1 it is 750.
        if kind == "str" or (kind in ("int", "float") and ":" in node.value):
            return node.value
        if kind not in ("null", "bool", "int", "float", "timestamp", "binary"):
            raise self._unknown(node)
        import yaml

        try:
            value: Any = getattr(yaml.constructor.SafeConstructor(), f"construct_yaml_{kind}")(node)
            return value if isinstance(value, int) else tag(value)
        except (ValueError, yaml.YAMLError, BadInput):
            raise _broken(self._path, node, f"{node.value!r} cannot be read as {kind}") from None

    def _unknown(self, node: yaml.Node) -> BadInput:
        return _broken(self._path, node, f"the tag {node.tag!r} means nothing here. Leave it out")


def _below(place: Place, key: str) -> Place:
    if place == "top":
        return "parameters" if key == "parameters" else "elsewhere"
    return "declaration" if place == "parameters" else "elsewhere"


def _is_nothing(node: yaml.Node) -> bool:
    """Whether nothing was written where a value could be: no `null`, no `~`."""
    return node.value == "" and node.tag == "tag:yaml.org,2002:null"


# ---- Writing


def write_front(metadata: dict[str, Json], old: Front) -> str:
    """Return the top of a file for this metadata. Keys whose values are those of `old` keep their bytes."""
    if same(metadata, old.metadata):
        return old.text
    fields = _fields(metadata)
    if not fields:
        return ""
    kept = dict(_chunks(old.yaml)) if old.yaml.strip() else {}
    before = _fields(old.metadata)
    parts = [
        kept[key] if key in kept and key in before and same(before[key], fields[key]) else _dump({key: fields[key]})
        for key in [*(key for key in kept if key in fields), *(key for key in fields if key not in kept)]
    ]
    text = "".join(parts)
    if not same(_said(text), metadata):
        text = _dump(fields)
        if not same(_said(text), metadata):
            raise BadInput(
                "The notebook's metadata has text that YAML cannot carry. Take it out, or keep it as .ipynb."
            )
    return f"---\n{text}---\n"


def finite(value: Json) -> Json:
    """The value with NaN and the infinities as JSON can carry them."""
    if isinstance(value, float) and not math.isfinite(value):
        return tag(value)
    if isinstance(value, list):
        return [finite(each) for each in cast("list[Json]", value)]
    if isinstance(value, dict):
        return {key: finite(each) for key, each in cast("dict[str, Json]", value).items()}
    return value


def _said(text: str) -> dict[str, Json] | None:
    """What this would be read as; None when it cannot be read."""
    try:
        return _metadata(_mapping(text, ""), "")
    except BadInput:
        return None


def _fields(metadata: dict[str, Json]) -> dict[str, Json]:
    """What the frontmatter has to say for this metadata."""
    ours: Any = metadata.get(OURS)
    rest = {key: value for key, value in metadata.items() if key != OURS}
    top: dict[str, Json] = {}
    if isinstance(ours, dict) and ours:
        fields = cast("dict[str, Json]", ours)
        top = {key: value for key, value in fields.items() if key not in _NOT_AT_THE_TOP}
        if len(top) < len(fields):
            rest[OURS] = {key: value for key, value in fields.items() if key in _NOT_AT_THE_TOP}
    elif OURS in metadata:
        rest[OURS] = ours
    return top | ({JUPYTER: rest} if rest else {})


def _chunks(text: str) -> Iterator[tuple[str, str]]:
    """Each name at the top with its lines, and the comments above it."""
    root = _compose(text, "")
    if root is None or not _is_mapping(root) or cast("Any", root).flow_style:
        return
    lines = text.splitlines(keepends=True)
    pairs = cast("list[tuple[yaml.Node, yaml.Node]]", root.value)
    starts = [key.start_mark.line for key, _ in pairs]
    starts = [_with_comments(lines, start) for start in starts]
    for index, (key, _) in enumerate(pairs):
        first = 0 if index == 0 else starts[index]
        last = starts[index + 1] if index + 1 < len(pairs) else len(lines)
        yield cast("str", key.value), "".join(lines[first:last])


def _with_comments(lines: list[str], line: int) -> int:
    while line > 0 and lines[line - 1].startswith("#"):
        line -= 1
    return line


def _dump(fields: dict[str, Json]) -> str:
    import yaml

    class FrontmatterDumper(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True

    def written_text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
        """Lines stay lines: what somebody wrote in several is read in several."""
        return cast("Any", dumper).represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)

    FrontmatterDumper.add_representer(str, written_text)
    try:
        plain = {key: _yaml_value(value) for key, value in fields.items()}
        return yaml.dump(plain, Dumper=FrontmatterDumper, sort_keys=False, allow_unicode=True, width=100)
    except (yaml.YAMLError, UnicodeError, RecursionError):
        raise BadInput("The notebook's metadata cannot be written as YAML. Keep it as .ipynb.") from None


def _yaml_value(value: Json) -> Any:
    """The value as YAML has a word for it."""
    if isinstance(value, list):
        return [_yaml_value(each) for each in cast("list[Json]", value)]
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, Json]", value)
    if len(fields) == 1 and next(iter(fields)) in ("$date", "$datetime", "$float", "$bytes"):
        try:
            found: Any = untag(fields)
            # Only what reads back as the same: YAML has no date with another spelling.
            if tag(found) == fields or (isinstance(found, float) and math.isnan(found)):
                return found
        except BadInput:
            pass
    return {key: _yaml_value(each) for key, each in fields.items()}
