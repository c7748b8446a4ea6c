"""scrapbook's face over Quire's results: `from quire import scrapbook as sb`.

`glue` inside a kernel, `read_notebook` and `read_notebooks` anywhere, with the names that
scrapbook 0.5 has. A value is decoded when it is asked for, and pandas is imported only by
what returns a frame. Like kernel.py this file stands on the standard library alone, in
Python 3.8's syntax: where scrapbook is absent, `import scrapbook` in our kernels is this.
"""

from __future__ import annotations

import base64
import binascii
import copy
import json
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Dict, MutableMapping, cast  # noqa: UP035 - the bases of classes, which 3.8 cannot subscript else

from . import kernel
from .kernel import OURS, RECORD, SCRAP, CarriedResult, found_in, untag

__all__ = ["Notebook", "Scrap", "Scrapbook", "ScrapbookException", "Scraps", "glue", "read_notebook", "read_notebooks"]
__version__ = "0.5.0"
"""The scrapbook whose names these are."""
_ENCODERS = {"pandas": "frame", "arrow": "frame"}
"""What scrapbook calls them, and we."""


class ScrapbookException(ValueError):
    """A notebook, or a scrap in it, is not what was asked for."""


# ---- Writing


def glue(name: str, data: Any, encoder: str | None = None, display: Any = None) -> None:
    """Record `data` as the scrap `name` of the notebook that this kernel runs."""
    if encoder == "json" and isinstance(data, str):
        data = json.loads(data)
    if encoder is None and display:
        encoder = _kind_or_display(data)
    kernel.result(name, data, kind=_ENCODERS.get(encoder, encoder) if encoder else None, display=display or False)


def _kind_or_display(data: Any) -> str | None:
    """None, or display: what can only be shown is shown, if somebody wants to see it."""
    try:
        kernel.tag(data)
    except (TypeError, ValueError):
        return None if kernel.kind_of(data) != "json" else "display"
    return None


# ---- Reading


def read_notebook(path: Any) -> Notebook:
    """Return the notebook in the .ipynb file at `path`."""
    return Notebook(path)


def read_notebooks(path: Any) -> Scrapbook:
    """Return the notebooks in the folder at `path`, by file name without its ending, in that order."""
    folder = Path(path)
    if not folder.is_dir():
        raise ScrapbookException(f"{folder} is no folder. For one notebook there is `read_notebook`.")
    book = Scrapbook()
    for each in sorted(folder.glob("*.ipynb")):
        book[each.stem] = Notebook(each)
    return book


def _read(path: Path) -> dict[str, Any]:
    try:
        node: Any = json.loads(path.read_bytes())
    except OSError as error:
        raise ScrapbookException(f"{path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        raise ScrapbookException(f"{path} is no notebook: {error}.") from None
    if not isinstance(node, dict) or not isinstance(cast("dict[str, Any]", node).get("nbformat"), int):
        raise ScrapbookException(f"{path} is JSON, but no notebook: it does not say its nbformat.")
    found = cast("dict[str, Any]", node)
    if found["nbformat"] > 4:
        raise ScrapbookException(f"{path} is nbformat {found['nbformat']}, which is newer than what is known here.")
    if found["nbformat"] < 4:
        found = json.loads(json.dumps(_import("nbformat", "to read an older notebook").convert(_node(found), 4)))
    if not _are_objects(found.get("cells")) or not isinstance(found.get("metadata", {}), dict):
        raise ScrapbookException(f"{path} is no notebook: its cells or its metadata are missing.")
    return found


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, dict) for each in cast("list[Any]", value))


def _node(fields: dict[str, Any]) -> Any:
    return import_module("nbformat.notebooknode").from_dict(fields)


def _import(name: str, why: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise ScrapbookException(f"{name} is needed {why}, and not installed here.") from None


class Scrap:
    """A named value of a notebook, and the output that shows it."""

    __slots__ = ("_data", "_found", "display", "encoder", "name")

    def __init__(self, name: str, data: Any, encoder: str, display: Any = None) -> None:
        self.name = name
        self.encoder = encoder
        self.display = display
        self._data = data
        self._found: CarriedResult | None = None

    @classmethod
    def of(cls, found: CarriedResult, display: Any) -> Scrap:
        """Return the scrap that was found; its data is decoded when it is asked for."""
        scrap = cls(found.name, None, found.kind, display)
        scrap._found = None if found.is_shown else found
        return scrap

    @property
    def data(self) -> Any:
        """The value; None for what is only shown."""
        if self._found is not None:
            self._data = _decoded(self._found)
            self._found = None
        return self._data

    @property
    def has_data(self) -> bool:
        """Whether there is a value. Nothing is decoded to know."""
        if self._found is None:
            return self._data is not None
        return self._found.data is not None or self._found.value is not None

    def __iter__(self) -> Iterator[Any]:
        return iter((self.name, self.data, self.encoder, self.display))

    def __repr__(self) -> str:
        return f"Scrap(name={self.name!r}, data={self.data!r}, encoder={self.encoder!r}, display={self.display!r})"


def _decoded(found: CarriedResult) -> Any:
    if found.data is not None:
        return _from_bytes(found)
    if found.is_exact:
        try:
            value = untag(found.value)
            return _from_rows(value) if found.kind == "frame" and _are_objects(value) else value
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise ScrapbookException(f"Scrap {found.name!r} cannot be read: {error}") from None
    if found.kind == "json" and isinstance(found.value, str):
        # Scrapbook lets text stand for the JSON that is in it.
        try:
            return json.loads(found.value)
        except ValueError:
            return found.value
    return str(found.value) if found.kind == "text" and not isinstance(found.value, str) else found.value


def _from_bytes(found: CarriedResult) -> Any:
    try:
        data = base64.b64decode("".join((found.data or "").split()), validate=True)
    except (binascii.Error, ValueError):
        raise ScrapbookException(f"Scrap {found.name!r} cannot be read: it is not base64.") from None
    try:
        return kernel.opened(found.name, data, found.media)
    except (ImportError, ValueError) as error:
        raise ScrapbookException(str(error)) from None


def _from_rows(rows: list[Any]) -> Any:
    """A frame that was kept as rows, as one again where pandas is."""
    try:
        return import_module("pandas").DataFrame(rows)
    except ImportError:
        return rows


class Scraps(Dict[str, Scrap]):  # noqa: UP006 - see above
    """The scraps of a notebook, by name, in their order."""

    @property
    def data_scraps(self) -> dict[str, Scrap]:
        """Those that have a value."""
        return {name: scrap for name, scrap in self.items() if scrap.has_data}

    @property
    def data_dict(self) -> dict[str, Any]:
        """Name to value."""
        return {name: scrap.data for name, scrap in self.data_scraps.items()}

    @property
    def display_scraps(self) -> dict[str, Scrap]:
        """Those that are shown."""
        return {name: scrap for name, scrap in self.items() if scrap.display is not None}

    @property
    def display_dict(self) -> dict[str, Any]:
        """Name to the output that shows it."""
        return {name: scrap.display for name, scrap in self.display_scraps.items()}

    @property
    def dataframe(self) -> Any:
        """A frame with name, data, encoder and display."""
        return _table(["name", "data", "encoder", "display"], [list(scrap) for scrap in self.values()])


def _table(columns: list[str], rows: Iterable[list[Any]]) -> Any:
    pandas = _import("pandas", "for a frame; without it there are `scraps.data_dict` and `quire results --csv`")
    # Objects: beside something that is missing, pandas would make a float of every integer.
    return pandas.DataFrame(list(rows), columns=columns, dtype=object)


class Notebook:
    """A notebook as scrapbook shows it: nbformat's fields, parameters, scraps, and frames of these."""

    def __init__(self, node_or_path: Any) -> None:
        self._scraps: Scraps | None = None
        self._node: Any = None
        if isinstance(node_or_path, (str, Path)):
            self.path = str(node_or_path)
            if not self.path.endswith(".ipynb"):
                raise ScrapbookException(f"{self.path} is no .ipynb file. `quire convert` makes one.")
            self._fields = _read(Path(node_or_path))
        else:
            self.path = ""
            self._fields = node_or_path
            self._node = node_or_path

    def copy(self) -> Notebook:
        """Return the same notebook again, to change."""
        other = Notebook(copy.deepcopy(self.node if self._node is not None else self._fields))
        other.path = self.path
        return other

    @property
    def node(self) -> Any:
        """The notebook as nbformat's NotebookNode."""
        if self._node is None:
            _import("nbformat", "for a NotebookNode")
            self._node = _node(self._fields)
        return self._node

    @property
    def metadata(self) -> dict[str, Any]:
        """The notebook's metadata."""
        return self._fields.get("metadata", {})

    @property
    def nbformat(self) -> int:
        """The version of the format."""
        return self._fields["nbformat"]

    @property
    def nbformat_minor(self) -> int:
        """The minor version of the format."""
        return self._fields.get("nbformat_minor", 0)

    @property
    def cells(self) -> list[dict[str, Any]]:
        """The cells, as nbformat has them."""
        return self._fields["cells"]

    @property
    def filename(self) -> str:
        """The name of the file."""
        return Path(self.path).name if self.path else ""

    @property
    def directory(self) -> str:
        """The folder of the file."""
        return str(Path(self.path).parent) if "/" in self.path else ""

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the run, as papermill and Quire write them."""
        return _section(_section(self.metadata, "papermill"), "parameters")

    @property
    def scraps(self) -> Scraps:
        """What was recorded, by name; of one name, the last."""
        if self._scraps is None:
            self._scraps = _scraps_of(self.cells)
        return self._scraps

    @property
    def cell_timing(self) -> list[float | None]:
        """Seconds that each cell took; None for those that did not run."""
        return [_seconds(cell) if cell.get("execution_count") else None for cell in self.cells]

    @property
    def execution_counts(self) -> list[int | None]:
        """The execution count of each cell."""
        return [cell.get("execution_count") for cell in self.cells]

    @property
    def metrics(self) -> Any:
        """A frame with the time that each cell took."""
        rows = [
            [self.filename, f"Out [{cell['execution_count']}]", _seconds(cell), "time (s)"]
            for cell in self.cells
            if cell.get("execution_count")
        ]
        return _table(["filename", "cell", "value", "type"], rows)

    papermill_metrics = metrics

    @property
    def parameter_dataframe(self) -> Any:
        """A frame of the parameters."""
        return _table(["name", "value", "type", "filename"], self._parameter_rows())

    @property
    def scrap_dataframe(self) -> Any:
        """A frame of the scraps."""
        return _table([*_SCRAP_COLUMNS, "filename"], self._scrap_rows())

    @property
    def papermill_record_dataframe(self) -> Any:
        """A frame of the values that were recorded."""
        return _table(["name", "value", "type", "filename"], self._record_rows())

    @property
    def papermill_dataframe(self) -> Any:
        """A frame of parameters and values."""
        return _table(["name", "value", "type", "filename"], [*self._parameter_rows(), *self._record_rows()])

    def _parameter_rows(self) -> list[list[Any]]:
        return [[name, self.parameters[name], "parameter", self.filename] for name in sorted(self.parameters)]

    def _record_rows(self) -> list[list[Any]]:
        values = self.scraps.data_dict
        return [[name, values[name], "record", self.filename] for name in sorted(values)]

    def _scrap_rows(self) -> list[list[Any]]:
        return [[*scrap, self.filename] for scrap in self.scraps.values()]

    def reglue(
        self, name: str, new_name: str | None = None, raise_on_missing: bool = True, unattached: bool = False
    ) -> None:
        """Record a scrap of this notebook in the one that this kernel runs; `unattached` only shows it."""
        scrap = self.scraps.get(name)
        if scrap is None:
            if raise_on_missing:
                raise ScrapbookException(f"There is no scrap {name!r} in {self.path or 'this notebook'}.")
            kernel.show({"text/plain": f"There is no scrap {name!r} in {self.path or 'this notebook'}."}, {})
            return
        if scrap.has_data and not unattached:
            kernel.result(new_name or name, scrap.data, kind=_reglued(scrap.encoder))
        if scrap.display is not None:
            said = {"name": new_name or name, "data": False, "display": True}
            kernel.show(_visible(scrap.display), {} if unattached else {"scrapbook": said})


_SCRAP_COLUMNS = ["name", "data", "encoder", "display"]


def _reglued(encoder: str) -> str | None:
    """The kind to record under: what is told by the value is left to it."""
    return encoder if encoder in ("text", "json") else None


def _visible(output: dict[str, Any]) -> dict[str, Any]:
    """What an output shows, without the values that it carries."""
    return {
        media: data
        for media, data in _section(output, "data").items()
        if media not in (OURS, RECORD) and not media.startswith(SCRAP)
    }


def _section(fields: dict[str, Any], name: str) -> dict[str, Any]:
    found = fields.get(name)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _seconds(cell: dict[str, Any]) -> float:
    return _section(_section(cell, "metadata"), "papermill").get("duration") or 0.0


def _scraps_of(cells: Iterable[dict[str, Any]]) -> Scraps:
    scraps = Scraps()
    for cell in cells:
        outputs = cell.get("outputs")
        if outputs and _are_objects(outputs):
            for output in outputs:
                if "data" in output:
                    _gather(output, scraps)
    return scraps


def _gather(output: dict[str, Any], scraps: Scraps) -> None:
    data, metadata = _section(output, "data"), _section(output, "metadata")
    for found in found_in(data, metadata):
        display = output if found.is_shown or _section(metadata, "scrapbook").get("display") is True else None
        before = scraps.get(found.name)
        if found.is_shown and before is not None and before.has_data:
            # A picture of a value that is there does not take its place.
            before.display = display
        else:
            scraps[found.name] = Scrap.of(found, display)


class Scrapbook(MutableMapping[str, Notebook]):
    """Notebooks by name, and what they recorded together."""

    def __init__(self, notebooks: Iterable[tuple[str, Notebook]] = ()) -> None:
        self._notebooks: dict[str, Notebook] = dict(notebooks)

    def __setitem__(self, key: str, value: Any) -> None:
        self._notebooks[key] = value if isinstance(value, Notebook) else Notebook(value)

    def __getitem__(self, key: str) -> Notebook:
        return self._notebooks[key]

    def __delitem__(self, key: str) -> None:
        del self._notebooks[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._notebooks)

    def __len__(self) -> int:
        return len(self._notebooks)

    def filter(self, keep: Callable[[Notebook], bool]) -> Scrapbook:
        """Return those notebooks for which `keep` says yes."""
        return Scrapbook((key, notebook) for key, notebook in self.items() if keep(notebook))

    @property
    def notebooks(self) -> list[Notebook]:
        """The notebooks, in their order."""
        return list(self._notebooks.values())

    @property
    def notebook_scraps(self) -> dict[str, Scraps]:
        """The scraps of each notebook."""
        return {key: notebook.scraps for key, notebook in self.items()}

    @property
    def scraps(self) -> Scraps:
        """All scraps together; of one name, the last notebook's."""
        merged = Scraps()
        for notebook in self.notebooks:
            merged.update(notebook.scraps)
        return merged

    @property
    def papermill_dataframe(self) -> Any:
        """A frame of the parameters and values of all notebooks."""
        rows = [
            [*row, key]
            for key, notebook in self.items()
            for row in [*notebook._parameter_rows(), *notebook._record_rows()]  # pyright: ignore[reportPrivateUsage]
        ]
        return _table(["name", "value", "type", "filename", "key"], rows)

    @property
    def scrap_dataframe(self) -> Any:
        """A frame of the scraps of all notebooks."""
        rows = [
            [*row, key]
            for key, notebook in self.items()
            for row in notebook._scrap_rows()  # pyright: ignore[reportPrivateUsage]
        ]
        return _table([*_SCRAP_COLUMNS, "filename", "key"], rows)

    @property
    def metrics(self) -> Any:
        """A frame with the time that each cell of each notebook took."""
        rows = [
            [notebook.filename, f"Out [{cell['execution_count']}]", _seconds(cell), "time (s)", key]
            for key, notebook in self.items()
            for cell in notebook.cells
            if cell.get("execution_count")
        ]
        return _table(["filename", "cell", "value", "type", "key"], rows)

    papermill_metrics = metrics

    def scraps_report(
        self, scrap_names: Any = None, notebook_names: Any = None, include_data: bool = False, headers: bool = True
    ) -> None:
        """Show the scraps of each notebook, under a heading each, in the notebook that this kernel runs."""
        wanted = _names(scrap_names)
        for number, key in enumerate(_names(notebook_names) or list(self)):
            notebook = self[key]
            if headers:
                kernel.show({"text/markdown": f"{'<hr>' if number else ''}\n\n### {key}".lstrip()}, {})
            for name in wanted or list(notebook.scraps.display_scraps):
                _report(name, notebook, headers=headers, with_data=include_data)
            if include_data and not wanted:
                for name, scrap in notebook.scraps.data_scraps.items():
                    if scrap.display is None:
                        _report(name, notebook, headers=headers, with_data=True)


def _names(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value or ())


def _report(name: str, notebook: Notebook, *, headers: bool, with_data: bool) -> None:
    if headers:
        kernel.show({"text/markdown": f"#### {name}"}, {})
    scrap = notebook.scraps.get(name)
    if scrap is not None and scrap.display is None and scrap.has_data and with_data:
        kernel.show({"text/plain": f"{name}: {kernel.short(scrap.data)}"}, {})
    else:
        notebook.reglue(name, raise_on_missing=False, unattached=True)
