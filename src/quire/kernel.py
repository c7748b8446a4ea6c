"""What code inside a kernel imports: `from quire.kernel import result`.

One file, on the standard library alone, in Python 3.8's syntax: it is also put, as text, into
kernels that do not have Quire (`startup_source`). A result is a display like others, so every
tool that reads notebooks finds it; how it looks on the wire is written and read here, and
docs/reference/results.md says it for other languages. Values are tagged as in core/values.py,
which this file must not import: a test holds the two together.
"""

from __future__ import annotations

import base64
import datetime as dt
import json
import math
import os
import sys
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, cast

__all__ = ["result", "result_file"]

OURS = "application/vnd.quire.result+json"
"""The media type of our own: the exact value, tagged, or bytes with their media type."""
RECORD = "application/papermill.record+json"
SCRAP, SCRAP_END = "application/scrapbook.scrap.", "+json"
PARQUET, NPY, BYTES = "application/vnd.apache.parquet", "application/x-npy", "application/octet-stream"
MOST_BYTES = 50_000_000
"""A result travels inside the notebook: past this nobody could open that."""
_MOST_NUMBERS = 10_000
"""An array up to this size is also there for scrapbook, as a list."""
_SAID_ONCE = 65_536
"""Text and JSON past this size, in bytes, are not written twice, where scrapbook's form says the same."""
_SAFE_INTEGER = 2**53
_NOT_SHOWN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_JOINERS = "\u200c\u200d"


def result(name: str, value: Any, *, kind: str | None = None, display: Any = False) -> None:
    """Record `value` as the notebook's result `name`; of one name, the last counts.

    `kind` is text, json, frame, array, figure, svg, file or display, and follows from the
    value where it is not given. `display=True` shows the value as well.
    """
    check_name(name)
    made = _made(name, value, kind)
    shell = _shell()
    if shell is None:
        _tell(f"quire: result {name!r} = {short(value)} was not recorded, for this is no kernel.")
        return
    _note_again(name, shell)
    if display and made.has_data:
        made = _with_display(made, value, display, shell)
    said = {"name": name, "data": made.has_data, "display": made.is_shown}
    show(made.media, dict(made.metadata, scrapbook=said))


def result_file(name: str, path: Any) -> None:
    """Record the file at `path`, its bytes and its name, as the notebook's result `name`."""
    result(name, path, kind="file")


def check_name(name: str) -> None:
    """Refuse a name that a terminal, a URL or a list could not show as it is."""
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance] - whoever calls this is not checked
        raise TypeError(f"A result's name is text, not {short(name)}.")
    shown = all(unicodedata.category(char) not in _NOT_SHOWN or char in _JOINERS for char in name)
    if not 0 < len(name) <= 200 or not shown or name != name.strip():
        raise ValueError(
            f"A result's name is 1 to 200 visible characters without spaces around them, not {name[:80]!r}."
        )


# ---- In the kernel


def _shell() -> Any:
    """The shell of the kernel that runs this, or None where there is none."""
    # Whoever has not imported IPython is in no kernel, and need not wait for it.
    found = sys.modules.get("IPython")
    shell: Any = found.get_ipython() if found is not None and hasattr(found, "get_ipython") else None
    if shell is None:
        return None
    is_kernel = getattr(shell, "kernel", None) is not None or type(shell.display_pub).__name__ != "DisplayPublisher"
    return shell if is_kernel else None


def show(media: dict[str, Any], metadata: dict[str, Any]) -> None:
    """Show these media in the notebook that this kernel runs; outside of one, the text among them."""
    shell = _shell()
    if shell is None:
        _tell(f"quire: {media.get('text/plain', media.get('text/markdown', ', '.join(media)))}")
        return
    shell.display_pub.publish(data=media, metadata=metadata)


def _tell(text: str) -> None:
    sys.stderr.write(text + "\n")


def short(value: Any) -> str:
    """Return a value as a message shows it."""
    try:
        text = repr(value)
    except Exception:
        # Somebody else's code: a message is no place to fail.
        return f"a {type(value).__name__}"
    return text if len(text) <= 100 else text[:99] + "…"


_recorded: dict[str, tuple[int, str]] = {}
"""Name to the execution, and the source of the cell, that recorded it last."""
_noted: set[tuple[str, int]] = set()


def _note_again(name: str, shell: Any) -> None:
    """Say once that a name was taken, unless it is the same cell that ran again."""
    count, source = getattr(shell, "execution_count", 0), _source(shell)
    last = _recorded.get(name)
    _recorded[name] = (count, source)
    if last is None or (name, count) in _noted or (last[0] != count and last[1] == source):
        return
    _noted.add((name, count))
    where = "by this cell" if last[0] == count else f"by [{last[0]}]"
    _tell(f"quire: result {name!r} was recorded before, {where}; the last one counts.")


def _source(shell: Any) -> str:
    cells = getattr(shell, "user_ns", {}).get("In")
    return cells[-1] if isinstance(cells, list) and cells and isinstance(cells[-1], str) else ""


# ---- How values look on the wire


class _ResultDisplay(NamedTuple):
    """A display that carries a result."""

    media: dict[str, Any]
    metadata: dict[str, Any]
    has_data: bool
    is_shown: bool


def _made(name: str, value: Any, kind: str | None) -> _ResultDisplay:
    makers: dict[str, Callable[[str, Any], _ResultDisplay]] = {
        "text": _text,
        "json": _json,
        "frame": _frame,
        "array": _array,
        "figure": _figure,
        "svg": lambda name, value: _figure(name, value, "svg"),
        "file": _file,
        "display": _display,
    }
    # What scrapbook calls them.
    maker = makers.get({"pandas": "frame"}.get(kind, kind) if kind else kind_of(value))
    if maker is None:
        raise ValueError(f"Result {name!r}: the kind {kind!r} is not known. It is one of {', '.join(makers)}.")
    try:
        return maker(name, value)
    except RecursionError:
        raise ValueError(f"Result {name!r} is nested too deeply, or holds itself.") from None


def kind_of(value: Any) -> str:
    """The kind that a value has by itself. Libraries are told by name: none is imported for this."""
    if isinstance(value, str):
        return "text"
    family = {f"{_library(each)}.{each.__name__}" for each in _class(value).__mro__}
    if family & {f"{library}.{name}" for library in ("pandas", "polars") for name in ("DataFrame", "Series")}:
        return "frame"
    if family & {"polars.LazyFrame", "pyarrow.Table"}:
        return "frame"
    if "numpy.ndarray" in family:
        return "array"
    if any(each.startswith("matplotlib.") for each in family) and _figure_of(value) is not None:
        return "figure"
    return "display" if _is_only_shown(value) else "json"


def _class(value: object) -> type:
    return type(value)


def _library(kind: type) -> str:
    return kind.__module__.partition(".")[0]


def _is_only_shown(value: Any) -> bool:
    """Whether a value is none that can be kept, but one that a notebook can show."""
    shows = ("_repr_mimebundle_", "_repr_html_", "_repr_png_", "_repr_svg_", "_repr_jpeg_", "_repr_markdown_")
    if not any(callable(getattr(_class(value), each, None)) for each in shows):
        return False
    try:
        tag(value)
    except TypeError:
        return True
    return False


def _scrap(name: str, data: Any, encoder: str) -> dict[str, Any]:
    payload = {"name": name, "data": data, "encoder": encoder, "version": 1}
    return {f"{SCRAP}{encoder}{SCRAP_END}": payload}


def _text(name: str, value: Any) -> _ResultDisplay:
    text = value if isinstance(value, str) else str(value)
    ours = {OURS: {"name": name, "kind": "text", "value": text}} if _size(name, text) <= _SAID_ONCE else {}
    return _ResultDisplay(dict(ours, **_scrap(name, text, "text")), {}, has_data=True, is_shown=False)


def _json(name: str, value: Any, kind: str = "json") -> _ResultDisplay:
    try:
        exact = tag(value)
    except (TypeError, ValueError) as error:
        raise type(error)(f"Result {name!r}: {error}") from None
    simple = plain(exact)
    # Scrapbook reads text under its json as JSON, and knows no null.
    data = json.dumps(simple) if simple is None or isinstance(simple, str) else simple
    size = _size(name, json.dumps(data, ensure_ascii=False))
    ours = (
        {}
        if kind == "json" and size > _SAID_ONCE and exact == data
        else {OURS: {"name": name, "kind": kind, "value": exact}}
    )
    return _ResultDisplay(dict(ours, **_scrap(name, data, "json")), {}, has_data=True, is_shown=False)


def _frame(name: str, value: Any) -> _ResultDisplay:
    """Parquet under scrapbook's media type, which is exact; rows as JSON where no library writes that."""
    value = value.collect() if hasattr(value, "collect") else value
    value = value if hasattr(value, "columns") or not hasattr(value, "to_frame") else value.to_frame()
    try:
        data = _parquet(value)
    except Exception as error:
        # No library, or columns that Parquet does not have: told by as many errors as there are libraries.
        rows = _rows(name, value, error)
        return _json(name, rows, "frame")
    encoded = _encoded(name, data)
    return _ResultDisplay(_scrap(name, encoded, "pandas"), {}, has_data=True, is_shown=False)


def _parquet(value: Any) -> bytes:
    import io

    file = io.BytesIO()
    if hasattr(value, "to_parquet"):
        value.to_parquet(file)
    elif hasattr(value, "write_parquet"):
        value.write_parquet(file)
    else:
        from importlib import import_module

        import_module("pyarrow.parquet").write_table(value, file)
    return file.getvalue()


def _rows(name: str, value: Any, error: Exception) -> Any:
    for method, arguments in (("to_dicts", ()), ("to_pylist", ()), ("to_dict", ("records",))):
        if hasattr(value, method):
            return getattr(value, method)(*arguments)
    raise TypeError(f"Result {name!r}: a value of type {type(value).__name__} cannot be kept as a frame: {error}")


def _array(name: str, value: Any) -> _ResultDisplay:
    import io
    from importlib import import_module

    numpy = import_module("numpy")
    # What is masked would be there again in the bytes.
    is_masked = isinstance(value, numpy.ma.MaskedArray)
    value = value if is_masked else numpy.asarray(value)
    if value.dtype.hasobject or is_masked:
        return _json(name, value.tolist())
    file = io.BytesIO()
    numpy.save(file, value, allow_pickle=False)
    media: dict[str, Any] = {OURS: _with_bytes(name, "array", NPY, file.getvalue())}
    if value.dtype.kind in "biufU" and value.size <= _MOST_NUMBERS:
        media.update(_scrap(name, plain(tag(value.tolist())), "json"))
        return _ResultDisplay(media, {}, has_data=True, is_shown=False)
    media["text/plain"] = f"{name}: array {value.shape} of {value.dtype}"
    return _ResultDisplay(media, {}, has_data=False, is_shown=True)


def _figure_of(value: Any) -> Any:
    if hasattr(value, "savefig"):
        return value
    return value.get_figure() if hasattr(value, "get_figure") else None


def _figure(name: str, value: Any, form: str = "png") -> _ResultDisplay:
    """A picture is shown, and what is shown is the result: nothing is written twice."""
    import io

    figure = _figure_of(value)
    if figure is None:
        raise TypeError(f"Result {name!r}: a value of type {type(value).__name__} is no figure: it cannot `savefig`.")
    file = io.BytesIO()
    figure.savefig(file, format=form, bbox_inches="tight")
    data = file.getvalue()
    shown = {"image/svg+xml": data.decode()} if form == "svg" else {"image/png": _encoded(name, data)}
    return _ResultDisplay(dict(shown, **{"text/plain": repr(figure)}), {}, has_data=False, is_shown=True)


def _file(name: str, value: Any) -> _ResultDisplay:
    import mimetypes
    from pathlib import Path

    path = Path(value)
    if not path.is_file():
        raise FileNotFoundError(f"Result {name!r}: there is no file {str(path)!r} in {os.getcwd()}.")  # noqa: PTH109
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(_too_large(name, path.stat().st_size))
    data = path.read_bytes()
    ours = _with_bytes(name, "file", mimetypes.guess_type(path.name)[0] or BYTES, data)
    media = {OURS: dict(ours, file=path.name), "text/plain": f"{path.name} ({len(data):,} bytes)"}
    return _ResultDisplay(media, {}, has_data=False, is_shown=True)


def _display(name: str, value: Any) -> _ResultDisplay:
    shell = _shell()
    shown: Any = shell.display_formatter.format(value) if shell is not None else ({"text/plain": repr(value)}, {})
    media, metadata = shown
    if not media:
        raise TypeError(f"Result {name!r}: a value of type {type(value).__name__} cannot be shown.")
    return _ResultDisplay(_readable(media), metadata, has_data=False, is_shown=True)


def _with_display(made: _ResultDisplay, value: Any, display: Any, shell: Any) -> _ResultDisplay:
    """The same with what shows the value beside it; `display` may say which media, as scrapbook has it."""
    if isinstance(display, (list, tuple)):
        wanted: dict[str, Any] = {"include": display}
    else:
        wanted = cast("dict[str, Any]", display) if isinstance(display, dict) else {}
    media, metadata = shell.display_formatter.format(value, **wanted)
    return _ResultDisplay(dict(_readable(media), **made.media), metadata, made.has_data, is_shown=True)


def _readable(media: Mapping[str, Any]) -> dict[str, Any]:
    """Pictures come as bytes, and travel as base64."""
    return {each: base64.b64encode(data).decode() if isinstance(data, bytes) else data for each, data in media.items()}


def _with_bytes(name: str, kind: str, media: str, data: bytes) -> dict[str, Any]:
    return {"name": name, "kind": kind, "media": media, "data": _encoded(name, data)}


def _encoded(name: str, data: bytes) -> str:
    if len(data) > MOST_BYTES:
        raise ValueError(_too_large(name, len(data)))
    return base64.b64encode(data).decode()


def _size(name: str, text: str) -> int:
    """The size of a text in bytes, if it can travel at all."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise ValueError(f"Result {name!r} holds half a character (a lone surrogate), which is no text.") from None
    if size > MOST_BYTES:
        raise ValueError(_too_large(name, size))
    return size


def _too_large(name: str, size: int) -> str:
    told = f"Result {name!r} has {size:,} bytes, and a notebook could not be opened with more than {MOST_BYTES:,}."
    return f"{told} Keep it in a file of its own, and record its path or a summary."


# ---- Tagged values


def tag(value: Any) -> Any:
    """Return `value` as JSON, with tags where JSON alone would change it; numpy's and pandas' numbers and times too."""
    value = _own(value)
    if value is None or isinstance(value, (bool, str)):
        return {"$path": str(value)} if hasattr(value, "__fspath__") else value
    if isinstance(value, int):
        return int(value) if -_SAFE_INTEGER <= value <= _SAFE_INTEGER else {"$int": _digits(value)}
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"$float": str(float(value))}
    if isinstance(value, list):
        return [tag(each) for each in cast("list[Any]", value)]
    if isinstance(value, Mapping):
        return _tag_mapping(cast("Mapping[Any, Any]", value))
    return _tag_special(value)


def _own(value: Any) -> Any:
    """A number or a time of a library, as Python's own."""
    library = _library(_class(value))
    if library == "numpy" and hasattr(value, "item") and getattr(value, "shape", None) == ():
        if value.dtype.kind in "mM":
            # Nanoseconds would come as a bare integer.
            value = value.astype(f"{value.dtype.kind}8[us]")
        found = value.item()
        return float(found) if _library(_class(found)) == "numpy" and value.dtype.kind == "f" else found
    if library == "numpy" and hasattr(value, "tolist"):
        return value.tolist()
    if library == "pandas":
        return _own_of_pandas(value)
    return value


def _own_of_pandas(value: Any) -> Any:
    name = type(value).__name__
    if name in ("NaTType", "NAType"):
        return None
    convert = getattr(value, {"Timestamp": "to_pydatetime", "Timedelta": "to_pytimedelta"}.get(name, ""), None)
    return convert() if convert is not None else value


def _digits(value: int) -> str:
    if value.bit_length() > 13_000:
        raise ValueError("An integer of more than 4,000 digits cannot be kept. Keep it as text or as a file.")
    return str(int(value))


def _tag_mapping(value: Mapping[Any, Any]) -> Any:
    if all(isinstance(key, str) and not key.startswith("$") for key in value):
        return {key: tag(each) for key, each in value.items()}
    return {"$dict": [[tag(key), tag(each)] for key, each in value.items()]}


def _tag_special(value: Any) -> Any:
    if isinstance(value, tuple):
        return {"$tuple": [tag(each) for each in cast("tuple[Any, ...]", value)]}
    if isinstance(value, (set, frozenset)):
        members = sorted(cast("set[Any]", value), key=repr)
        return {"$set" if isinstance(value, set) else "$frozenset": [tag(each) for each in members]}
    if isinstance(value, (bytes, bytearray)):
        return {"$bytes": base64.b64encode(value).decode()}
    for kind, name in ((dt.datetime, "$datetime"), (dt.date, "$date"), (dt.time, "$time")):
        if isinstance(value, kind):
            return {name: value.isoformat()}
    if isinstance(value, dt.timedelta):
        return {"$duration": [value.days, value.seconds, value.microseconds]}
    if hasattr(value, "__fspath__"):
        return {"$path": value.__fspath__()}
    told = f"a value of type {type(value).__name__} cannot be kept"
    raise TypeError(f"{told}: use numbers, text, dates, bytes, lists or dicts, frames, arrays or figures.")


def untag(value: Any) -> Any:
    """Return the value that `tag` was given, with a `Path` for any path."""
    if isinstance(value, list):
        return [untag(each) for each in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, Any]", value)
    name = next(iter(fields), "")
    if len(fields) == 1 and name.startswith("$"):
        reader = _UNTAG.get(name)
        if reader is None:
            raise ValueError(f"Tagged value {name!r} is not known here: it may come from a newer Quire.")
        return reader(fields[name])
    return {key: untag(each) for key, each in fields.items()}


def _path(value: str) -> Any:
    from pathlib import Path

    return Path(value)


_UNTAG: dict[str, Callable[[Any], Any]] = {
    "$int": int,
    "$float": float,
    "$dict": lambda value: {untag(key): untag(each) for key, each in value},
    "$tuple": lambda value: tuple(untag(each) for each in value),
    "$set": lambda value: {untag(each) for each in value},
    "$frozenset": lambda value: frozenset(untag(each) for each in value),
    "$bytes": base64.b64decode,
    "$datetime": dt.datetime.fromisoformat,
    "$date": dt.date.fromisoformat,
    "$time": dt.time.fromisoformat,
    "$duration": lambda value: dt.timedelta(*value),
    "$path": _path,
}


def plain(exact: Any) -> Any:
    """Return a tagged value as the nearest JSON that every other tool reads."""
    if isinstance(exact, list):
        return [plain(each) for each in cast("list[Any]", exact)]
    if not isinstance(exact, dict):
        return exact
    fields = cast("dict[str, Any]", exact)
    name = next(iter(fields), "")
    if len(fields) != 1 or not name.startswith("$"):
        return {key: plain(each) for key, each in fields.items()}
    inner = fields[name]
    if name == "$int":
        return int(inner)
    if name == "$dict":
        return {str(plain(key)): plain(each) for key, each in inner}
    if name == "$duration":
        return dt.timedelta(*inner).total_seconds()
    return [plain(each) for each in cast("list[Any]", inner)] if isinstance(inner, list) else inner


# ---- Results among displays


class CarriedResult(NamedTuple):
    """A result as a display carries it."""

    name: str
    kind: str
    """Of scrapbook's, its encoder: text, json, pandas, display."""
    value: Any = None
    is_exact: bool = False
    """Whether the value is tagged."""
    data: str | None = None
    """Bytes in base64, instead of a value."""
    media: str | None = None
    file: str | None = None
    is_shown: bool = False
    """Whether it is only shown: the value is the display's own media."""


def carries(data: Mapping[str, Any], metadata: Mapping[str, Any]) -> bool:
    """Whether a display may carry results. Said at once: most displays carry none."""
    if "scrapbook" in metadata or "papermill" in metadata:
        return True
    return any(media in (OURS, RECORD) or media.startswith(SCRAP) for media in data)


def found_in(data: Mapping[str, Any], metadata: Mapping[str, Any]) -> Iterator[CarriedResult]:
    """Yield the results that a display carries. Ours is exact, so what else says the same is passed over."""
    ours = data.get(OURS)
    said = _fields(metadata.get("scrapbook"))
    if isinstance(ours, dict) and isinstance(cast("dict[str, Any]", ours).get("name"), str):
        yield _found_ours(cast("dict[str, Any]", ours))
        return
    for media, payload in data.items():
        if media.startswith(SCRAP) and media.endswith(SCRAP_END):
            yield from _found_scrap(media[len(SCRAP) : -len(SCRAP_END)], payload, said)
        elif media == RECORD:
            for name, value in _fields(payload).items():
                # Text is text here, though scrapbook would look for JSON in it.
                yield CarriedResult(name, "json", value, is_exact=isinstance(value, str))
    shown = said if said.get("display") is True else _fields(metadata.get("papermill"))
    if isinstance(shown.get("name"), str) and not said.get("data"):
        yield CarriedResult(shown["name"], "display", dict(data), is_shown=True)


def _fields(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _found_ours(ours: dict[str, Any]) -> CarriedResult:
    kind, data, media, file = (ours.get(each) for each in ("kind", "data", "media", "file"))
    kind = kind if isinstance(kind, str) else "json"
    if not isinstance(data, str):
        return CarriedResult(ours["name"], kind, ours.get("value"), is_exact=True)
    return CarriedResult(
        ours["name"],
        kind,
        data=data,
        media=media if isinstance(media, str) else BYTES,
        file=file if isinstance(file, str) else None,
    )


def _found_scrap(encoder: str, payload: Any, said: dict[str, Any]) -> Iterator[CarriedResult]:
    fields = _fields(payload)
    name = fields.get("name", said.get("name"))
    value = fields.get("data", payload)
    if not isinstance(name, str):
        return
    if encoder == "pandas" and isinstance(value, str):
        yield CarriedResult(name, encoder, data=value, media=PARQUET)
    else:
        yield CarriedResult(name, encoder, value)


_READERS: dict[str | None, tuple[tuple[Any, ...], ...]] = {
    # Neither mapped into memory nor unpickled: whoever wrote the bytes need not be trusted.
    NPY: (("numpy", "load", None, False),),
    PARQUET: (("pandas", "read_parquet"), ("polars", "read_parquet"), ("pyarrow.parquet", "read_table")),
}
"""Media type to modules, what to call in each, and with what after the bytes."""


def opened(name: str, data: bytes, media: str | None) -> Any:
    """Return the frame or the array that these bytes are, in the first library that is there; others as they are.

    ImportError: there is none. ValueError: they are not what they are said to be.
    """
    import io
    from importlib import import_module

    if media not in _READERS:
        return data
    for module, reader, *settings in _READERS[media]:
        try:
            return getattr(import_module(module), reader)(io.BytesIO(data), *settings)
        except ImportError:
            continue  # also pandas without pyarrow
        except Exception as error:
            # Each library has errors of its own for bytes that are broken.
            raise ValueError(f"Result {name!r} cannot be read: {error}") from None
    wanted = "numpy is" if media == NPY else "pandas with pyarrow, or polars, is"
    raise ImportError(f"{wanted} needed for result {name!r}, and not installed here.")


# ---- What is told of a data frame, for those who read text

_MOST_ROWS, _MOST_COLUMNS, _MOST_TOLD, _LONGEST_CELL = 8, 30, 4096, 60


def frame_told(frame: Any) -> Any:
    """Return the shape, the columns with their types and the first rows of a frame of pandas or polars, as JSON."""
    rows, columns = frame.shape
    head = frame.head(_MOST_ROWS)
    if hasattr(frame, "iloc"):
        names, lines = _of_pandas(head.iloc[:, :_MOST_COLUMNS])
    else:
        head = head[:, :_MOST_COLUMNS]
        names, lines = _names(head), head.rows()
    told: dict[str, Any] = {
        "shape": [int(rows), int(columns)],
        "columns": [[_cell(name), _cell(str(kind))] for name, kind in names],
        "rows": [[_cell(each) for each in line] for line in lines],
    }
    while len(json.dumps(told)) > _MOST_TOLD and told["columns"]:
        if told["rows"]:
            told["rows"].pop()
        else:
            told["columns"].pop()
    return told


def _names(head: Any) -> list[tuple[Any, Any]]:
    return list(zip(head.columns, head.dtypes))  # noqa: B905 - Python 3.8 knows no strict


def _of_pandas(head: Any) -> Any:
    """The columns and the rows, with the index among them where it says more than a count."""
    names = _names(head)
    counts = type(head.index).__name__ == "RangeIndex"
    if not counts:
        names.insert(0, (head.index.name or "index", getattr(head.index, "dtype", "")))
    return names, list(head.itertuples(index=not counts, name=None))


def _cell(value: Any) -> str:
    """A value in a few characters. What is large, or somebody else's, is only named: writing it out may take for ever."""
    if isinstance(value, float):
        text = f"{value:.6g}"
    elif isinstance(value, (str, bytes)):
        text = str(value[: _LONGEST_CELL + 1])
    elif value is None or isinstance(value, bool):
        text = str(value)
    elif _library(_class(value)) in ("datetime", "decimal", "numpy", "pandas"):
        text = str(value) if getattr(value, "ndim", 0) == 0 else f"{_class(value).__name__} {value.shape}"
    elif isinstance(value, int):
        text = str(value) if value.bit_length() < 200 else "an integer of many digits"
    elif isinstance(value, tuple):
        parts = cast("tuple[Any, ...]", value)
        text = ", ".join(map(_cell, parts)) if len(parts) < 10 else f"tuple of {len(parts)}"
    else:
        kind = _class(value).__name__
        text = f"{kind} of {len(value)}" if hasattr(value, "__len__") else kind
    return text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 1] + "…"


# ---- In kernels that do not have Quire


def _source_of(spec: Any, name: str) -> str:
    """Return the text of a module; under pytest by its file, for the loader that it has there knows no sources."""
    if hasattr(spec.loader, "get_source"):
        return spec.loader.get_source(name)
    with open(spec.origin, encoding="utf-8") as file:  # noqa: PTH123 - a kernel imports no more than it must
        return file.read()


def startup_source(*, frames: bool = False) -> str:
    """Return what a Python kernel runs, silently, before its first cell: one expression.

    Afterwards `quire.kernel` and `scrapbook` can be imported there. Where either is
    installed, that one is what everybody gets. With `frames`, data frames are also shown as FRAME.
    """
    from importlib.util import find_spec

    sources: dict[str, str] = {}
    for name in ("quire.kernel", "quire.scrapbook"):
        spec: Any = find_spec(name)
        sources[name] = _source_of(spec, name)
    # Only the finder is compiled now, and the rest by whoever imports it: a kernel has to start quickly.
    finder = sources["quire.kernel"].rpartition(_FINDER)[2]
    imports = "from __future__ import annotations\nimport sys\nfrom typing import Any, cast\n"
    calls = "install(sources)" + "; show_frames(sources)" * frames
    # In a namespace of its own: the notebook's has nothing new in it.
    return f"exec({imports + finder + calls!r}, {{'sources': {sources!r}, '__name__': 'quire.kernel'}})"


_FINDER = "# ---- Finding modules that came along as text\n"
# ---- Finding modules that came along as text


_SHIM = "from quire.scrapbook import *\nfrom quire.scrapbook import __version__\n"


def install(sources: Mapping[str, str]) -> None:
    """Let the modules in `sources`, and scrapbook, be found where nothing else finds them."""
    if not any(type(each).__module__ == Finder.__module__ for each in sys.meta_path):
        there = {"quire": '"""The part of Quire that is inside a kernel."""\n', "scrapbook": _SHIM}
        # Last in line, so that whatever is installed comes first.
        sys.meta_path.append(Finder(dict(sources, **there)))


FRAME = "application/vnd.quire.frame+json"
"""The media type of what `frame_told` returns."""
# By name, so that no library is imported for it; pandas has called itself both.
_FRAMES = ("pandas", "pandas.core.frame", "polars.dataframe.frame")


def show_frames(sources: Mapping[str, str]) -> None:
    """Have data frames told beside their tables, from now on. A kernel starts also where that cannot be."""
    told: dict[str, Any] = {"__name__": "quire.kernel"}

    def frame_shown(frame: Any) -> Any:
        """Nothing, where it fails: the table is shown in any case."""
        try:
            if "frame_told" not in told:
                # Compiled when the first frame comes; and ours, whichever Quire is installed there.
                exec(compile(sources["quire.kernel"], "<quire.kernel>", "exec"), told)  # noqa: S102 - our own source
            return told["frame_told"](frame)
        except Exception:
            return None

    try:
        shell = sys.modules["IPython"].get_ipython()
        formatters = shell.display_formatter.formatters
        made = type(formatters["application/json"])(parent=shell.display_formatter)
        made.format_type, made.print_method = FRAME, "_repr_quire_frame_"
        for module in _FRAMES:
            made.for_type_by_name(module, "DataFrame", frame_shown)
        formatters[FRAME] = made
    except Exception as error:
        sys.stderr.write(f"quire: data frames are shown as tables only: {error}\n")


class Finder:
    """Finds modules whose source came along as text."""

    def __init__(self, sources: dict[str, str]) -> None:
        self._sources = sources

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Answer Python's import: here, or not."""
        if name not in self._sources:
            return None
        from importlib.machinery import ModuleSpec

        return ModuleSpec(name, cast("Any", self), origin=f"<{name}>", is_package=name == "quire")

    def create_module(self, spec: Any) -> None:
        """Answer Python's import: a module like others will do."""

    def exec_module(self, module: Any) -> None:
        """Run the source."""
        name = module.__spec__.name
        exec(compile(self._sources[name], f"<{name}>", "exec"), module.__dict__)  # noqa: S102 - our own source

    def get_source(self, name: str) -> str | None:
        """Return the source, for tracebacks."""
        return self._sources.get(name)
