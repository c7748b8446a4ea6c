"""What the types of events say beyond their names, and what is checked of a draft before anybody looks at the log.

Which fields there are, which are the workspace's to fill, and which hold content that a
redaction masks.

All of it is read from the annotations in events.py, so that an event is described once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, cast

import msgspec
from msgspec import inspect
from msgspec.structs import replace

from .errors import BadInput, Refused
from .events import (
    BlobRef,
    Display,
    DisplayUpdated,
    Draft,
    EnvironmentRecorded,
    FileMerged,
    KnownEvent,
    NamedResult,
    Output,
    OutputAdded,
    OutputsImported,
    ProposalAccepted,
    ProposalMade,
    ResultRecorded,
    RunFinished,
    SourceEdited,
    Stream,
    StreamAppended,
)
from .ids import LogId, check_client_key, check_id, check_key
from .values import Json

MASK = "█"


@cache
def _shape(kind: Any) -> inspect.Type:
    return inspect.type_info(kind)


def check_fields(given: Any, kind: Any) -> None:
    """Refuse a field that the type does not have: msgspec would drop it without a word."""
    _check_fields(given, _shape(kind), "draft")


def _check_fields(given: Any, shape: inspect.Type, where: str) -> None:
    shape = _chosen(given, shape)
    if isinstance(shape, inspect.StructType) and isinstance(given, dict):
        names = {field.encode_name for field in shape.fields} | {shape.tag_field}
        for name in cast("dict[str, Any]", given):
            if name not in names:
                known = ", ".join(sorted(name for name in names if name))
                raise BadInput(f"{where} has no field {name!r}; it has {known}.")
    for name, child, child_shape in _children(given, shape):
        _check_fields(child, child_shape, f"{where}.{name}")


def check_unfilled(draft: Draft) -> None:
    """Refuse a draft that fills what only the workspace fills, at any depth."""
    if _has_filled(type(draft.event)):
        _check_unfilled(draft.event)


@cache
def _has_filled(kind: type[msgspec.Struct]) -> bool:
    """Whether the workspace fills anything in such an event: in most there is nothing to look at."""
    waiting, seen = [_shape(kind)], set[type[msgspec.Struct]]()
    while waiting:
        match waiting.pop():
            case inspect.StructType(cls=cls) as shape if cls not in seen:
                if filled_fields(cls):
                    return True
                seen.add(cls)
                waiting += [field.type for field in shape.fields]
            case inspect.UnionType(types=types):
                waiting += types
            case inspect.VarTupleType(item_type=item) | inspect.ListType(item_type=item):
                waiting.append(item)
            case inspect.DictType(value_type=value):
                waiting.append(value)
            case inspect.Metadata(type=inner):
                waiting.append(inner)
            case _:
                pass
    return False


def _check_unfilled(value: Any) -> None:
    if isinstance(value, tuple):
        for each in cast("tuple[Any, ...]", value):
            _check_unfilled(each)
    elif isinstance(value, msgspec.Struct):
        filled = filled_fields(type(value))
        for name in value.__struct_fields__:
            if name in filled and getattr(value, name) is not None:
                raise Refused(
                    f"Field {name!r} of {value.__struct_config__.tag} is filled by the workspace. "
                    "Leave it out and send the event again."
                )
            _check_unfilled(getattr(value, name))


@cache
def filled_fields(kind: type[msgspec.Struct]) -> list[str]:
    """The names of the fields of an event that the workspace fills."""
    shape = cast("inspect.StructType", _shape(kind))
    return [field.name for field in shape.fields if _extra(field.type).get("filled")]


def masked(event: KnownEvent, secret: str | None = None) -> KnownEvent:
    """Return `event` with its content masked: all of it, or wherever `secret` stands.

    Lengths and line ends stay, so that later edits and stream offsets still fit.
    """
    fields = msgspec.to_builtins(event)
    hide = _hide_all if secret is None else _hider(secret)
    made = msgspec.convert(_masked(fields, _chosen_struct(event), hide), KnownEvent)
    return _without_pieces(event, made)


def _without_pieces(event: KnownEvent, made: KnownEvent) -> KnownEvent:
    """Hide the recorded difference of a whole text that was masked: it may hold just the part of the secret that was new."""
    match event, made:
        case SourceEdited(), SourceEdited() if made.text != event.text:
            return replace(
                made, applied=tuple(replace(each, insert=_hide_all(each.insert)) for each in made.applied or ())
            )
        case FileMerged() | ProposalMade(), FileMerged() | ProposalMade():
            return replace(made, changes=tuple(map(_without_pieces, event.changes, made.changes)))
        case ProposalAccepted(), ProposalAccepted() if event.applied is not None:
            return replace(made, applied=tuple(map(_without_pieces, event.applied, made.applied or ())))
        case _:
            return made


def content(event: KnownEvent) -> Iterator[str]:
    """Every text in `event` that a redaction would mask."""
    found: list[str] = []

    def note(text: str) -> str:
        found.append(text)
        return text

    _masked(msgspec.to_builtins(event), _chosen_struct(event), note)
    return iter(found)


def blob_refs(value: Any) -> Iterator[BlobRef]:
    """Every blob that an event refers to."""
    if isinstance(value, BlobRef):
        yield value
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from blob_refs(getattr(value, name))
    elif isinstance(value, tuple):
        for each in cast("tuple[Any, ...]", value):
            yield from blob_refs(each)
    elif isinstance(value, dict):
        for each in cast("dict[str, Any]", value).values():
            yield from blob_refs(each)


def without_blobs(event: KnownEvent, gone: Collection[str]) -> KnownEvent:
    """Return `event` without its references to blobs that are to be removed."""
    match event:
        case OutputAdded(output=Display() as shown):
            return replace(event, output=replace(shown, blobs=_kept(shown.blobs, gone)))
        case OutputsImported():
            outputs = tuple(_output_without(output, gone) for output in event.outputs)
            return replace(event, outputs=outputs, results=tuple(_result_without(each, gone) for each in event.results))
        case DisplayUpdated():
            return replace(event, blobs=_kept(event.blobs, gone))
        case FileMerged() if event.kept is not None and event.kept.hash in gone:
            return replace(event, kept=None)
        case EnvironmentRecorded() if event.packages is not None and event.packages.hash in gone:
            return replace(event, packages=None)
        case RunFinished() if event.widgets is not None and event.widgets.hash in gone:
            return replace(event, widgets=None)
        case StreamAppended() | ResultRecorded() if event.blob is not None and event.blob.hash in gone:
            return replace(event, blob=None)
        case _:
            return event


def _output_without(output: Output, gone: Collection[str]) -> Output:
    match output:
        case Display():
            return replace(output, blobs=_kept(output.blobs, gone))
        case Stream() if output.blob is not None and output.blob.hash in gone:
            return replace(output, blob=None)
        case _:
            return output


def _result_without(result: NamedResult, gone: Collection[str]) -> NamedResult:
    return replace(result, blob=None) if result.blob is not None and result.blob.hash in gone else result


def _kept(blobs: dict[str, BlobRef], gone: Collection[str]) -> dict[str, BlobRef]:
    return {media: ref for media, ref in blobs.items() if ref.hash not in gone}


def _hide_all(text: str) -> str:
    return "".join(char if char in "\r\n" else MASK for char in text)


def _hider(secret: str) -> Callable[[str], str]:
    return lambda text: text.replace(secret, _hide_all(secret))


def _masked(given: Any, shape: inspect.Type, hide: Callable[[str], str]) -> Json:
    chosen = _chosen(given, shape)
    if _extra(shape).get("content") or _extra(chosen).get("content"):
        return _masked_content(given, hide)
    shape = chosen
    if isinstance(shape, inspect.StructType) and isinstance(given, dict):
        new = {name: _masked(child, child_shape, hide) for name, child, child_shape in _children(given, shape)}
        return cast("dict[str, Any]", given) | new
    if isinstance(given, list | tuple) and not isinstance(shape, inspect.AnyType):
        return [_masked(child, child_shape, hide) for _, child, child_shape in _children(given, shape)]
    return cast("Json", given)


def _masked_content(given: Any, hide: Callable[[str], str]) -> Any:
    if isinstance(given, str):
        return hide(given)
    if isinstance(given, list):
        return [_masked_content(each, hide) for each in cast("list[Any]", given)]
    if isinstance(given, dict):
        return _masked_object(cast("dict[str, Any]", given), hide)
    return 0 if hide is _hide_all and isinstance(given, int | float) and not isinstance(given, bool) else given


def _masked_object(given: dict[str, Any], hide: Callable[[str], str]) -> Any:
    # Names too: a secret may stand in the key of an object.
    made = {_masked_name(name, hide): _masked_content(each, hide) for name, each in given.items()}
    tagged = len(given) == 1 and next(iter(given)).startswith("$")
    return MASK if tagged and made != given else made  # half a tagged value could not be read any more


def _masked_name(name: str, hide: Callable[[str], str]) -> str:
    return name if hide is _hide_all else hide(name)


# ---- Walking a value and its type side by side


def _extra(shape: inspect.Type) -> dict[str, Any]:
    return cast("dict[str, Any]", getattr(shape, "extra", None) or {})


def _chosen_struct(event: KnownEvent) -> inspect.StructType:
    return cast("inspect.StructType", _shape(type(event)))


def _chosen(given: Any, shape: inspect.Type) -> inspect.Type:
    """The member of a union that `given` is; any other type as it is."""
    if isinstance(shape, inspect.Metadata):
        return _chosen(given, shape.type)
    if not isinstance(shape, inspect.UnionType):
        return shape
    if isinstance(given, dict) and (tagged := _tagged(cast("dict[str, Any]", given), shape)) is not None:
        return tagged
    for member in shape.types:
        bare = member.type if isinstance(member, inspect.Metadata) else member
        if isinstance(bare, inspect.StructType) and isinstance(given, dict):
            fields = cast("dict[str, Any]", given)
            if bare.tag_field is None or fields.get(bare.tag_field) == bare.tag:
                return bare
        if isinstance(bare, inspect.VarTupleType) and isinstance(given, list | tuple):
            return bare
        if isinstance(given, str) and isinstance(bare, inspect.StrType):
            return member
    return shape


_TAGGED: dict[int, tuple[str | None, dict[Any, inspect.StructType]]] = {}


def _tagged(given: dict[str, Any], shape: inspect.UnionType) -> inspect.StructType | None:
    """The member that has the tag. Looked up, for the union of all events is long; `_shape` keeps its types for ever."""
    known = _TAGGED.get(id(shape))
    if known is None:
        bare = [member.type if isinstance(member, inspect.Metadata) else member for member in shape.types]
        structs = [each for each in bare if isinstance(each, inspect.StructType) and each.tag_field is not None]
        known = _TAGGED[id(shape)] = (structs[0].tag_field if structs else None, {each.tag: each for each in structs})
    tag = given.get(known[0]) if known[0] is not None else None
    return known[1].get(tag) if isinstance(tag, str) else None


def _children(given: Any, shape: inspect.Type) -> Iterator[tuple[str, Any, inspect.Type]]:
    if isinstance(shape, inspect.StructType) and isinstance(given, dict):
        for field in shape.fields:
            if field.encode_name in given:
                yield field.encode_name, cast("dict[str, Any]", given)[field.encode_name], field.type
    elif isinstance(shape, inspect.StructType) and isinstance(given, list | tuple):
        for field, each in zip(shape.fields, cast("list[Any]", given), strict=False):
            yield field.encode_name, each, field.type
    elif isinstance(shape, inspect.VarTupleType) and isinstance(given, list | tuple):
        for number, each in enumerate(cast("list[Any]", given)):
            yield str(number), each, shape.item_type


# ---- Drafts


MAX_DRAFTS = 10_000
BATCH, BATCH_BYTES = 5000, 4 << 20
"""How many drafts that need not go together go together, and about how large: a server takes 16 MiB at once."""


def check_drafts(log: LogId, drafts: Sequence[Draft], *, house_keys: bool = False) -> None:
    """Refuse ids that are none, too many events at once, and what only the workspace fills.

    `house_keys`: the keys are Quire's own, chosen here and not by a client.
    """
    check_id(log, "Log")
    if not 0 < len(drafts) <= MAX_DRAFTS:
        raise BadInput(f"A submission has 1 to {MAX_DRAFTS:,} events, not {len(drafts):,}. Send them in parts.")
    if len({draft.id for draft in drafts}) < len(drafts):
        raise BadInput("Two events of one submission have the same id. Give each its own.")
    for draft in drafts:
        check_id(draft.id, "Event")
        if draft.key is not None:
            (check_key if house_keys else check_client_key)(draft.key)
        if draft.cause is not None:
            check_id(draft.cause, "Cause")
        check_unfilled(draft)


def batches(drafts: Iterable[Draft], most: int = BATCH) -> Iterator[list[Draft]]:
    """Drafts that may be recorded one after the other, in parts that every workspace takes."""
    batch: list[Draft] = []
    size = 0
    for draft in drafts:
        if batch and (len(batch) >= most or size > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(draft)
        size += _size(draft)
    if batch:
        yield batch


def _size(draft: Draft) -> int:
    try:
        return len(msgspec.json.encode(draft.event))
    except (TypeError, ValueError, RecursionError):
        return 0  # whoever records it says what is wrong with it
