"""What helps against an error: how to add a package, which cell defines a name, where files are looked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from ...core.events import Display, Fault
from ...core.ids import nearest
from ...core.notebook.notebook import Cell, Notebook
from ...core.python.cell_names import analyse
from ..terminal_safe import one_line
from .output_summary import frame_in
from .render_context import FAILED, Scene

PACKAGES = {
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "cairosvg": "CairoSVG",
    "Crypto": "pycryptodome",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "fitz": "PyMuPDF",
    "git": "GitPython",
    "google.cloud.bigquery": "google-cloud-bigquery",
    "google.cloud.storage": "google-cloud-storage",
    "google.protobuf": "protobuf",
    "igraph": "igraph",
    "jose": "python-jose",
    "jwt": "PyJWT",
    "ldap": "python-ldap",
    "magic": "python-magic",
    "mpl_toolkits": "matplotlib",
    "MySQLdb": "mysqlclient",
    "OpenSSL": "pyOpenSSL",
    "osgeo": "GDAL",
    "PIL": "pillow",
    "pptx": "python-pptx",
    "psycopg2": "psycopg2-binary",
    "pythoncom": "pywin32",
    "serial": "pyserial",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "slugify": "python-slugify",
    "umap": "umap-learn",
    "usb": "pyusb",
    "win32com": "pywin32",
    "yaml": "PyYAML",
    "zmq": "pyzmq",
}
"""Where the name of a package is not that of what one imports."""
_MODULE = re.compile(r"No module named ['\"]?([\w.]{1,100})")
_NAME = re.compile(r"name '(\w{1,100})' is not defined")
_MOST_SOURCE = 100_000
_MOST_CELLS = 3000
_MOST_COLUMNS = 20


def hints(scene: Scene, cell: Cell, fault: Fault) -> Iterator[str]:
    """Yield what is known to help, a line each."""
    match fault.ename:
        case "ModuleNotFoundError" | "ImportError":
            yield from _package(fault.evalue)
        case "NameError" | "UnboundLocalError":
            yield from _name(scene, cell, fault.evalue)
        case "FileNotFoundError":
            if scene.folder is not None:
                yield f"paths are relative to {one_line(scene.folder, 300)}"
        case "KeyError" | "ColumnNotFoundError":
            yield from _column(scene, cell, fault.evalue)
        case _:
            return


def _package(said: str) -> Iterator[str]:
    found = _MODULE.search(said[:2000])
    if found is None:
        return
    module = found[1]
    parts = module.split(".")
    names = [".".join(parts[:count]) for count in range(len(parts), 0, -1)]
    package = next((PACKAGES[name] for name in names if name in PACKAGES), parts[0])
    yield (
        f"`uv add {package}` in the project (or `uv pip install {package}` in its environment) adds it for good, "
        f"`%pip install {package}` to this kernel's environment; name it in the notebook's `# /// script` dependencies"
    )


# ---- Names


def _name(scene: Scene, cell: Cell, said: str) -> Iterator[str]:
    found = _NAME.search(said[:2000])
    if found is None:
        return
    name = found[1]
    definers = [each for each in _definers(scene.notebook, name) if each.id != cell.id]
    for each in definers[:2]:
        yield f"{_called(scene, each)} defines {name}: {_how_it_is(scene, each)}"
    if not definers:
        close = nearest(name, sorted(_defined(scene.notebook)))
        yield f"no cell defines {name}" + (f"; nearest: {', '.join(close)}" if close else "")


def _called(scene: Scene, cell: Cell) -> str:
    short = scene.short(cell.id)
    return f"cell {short}" + (f" ({one_line(cell.name, 40)})" if cell.name and cell.name != short else "")


def _how_it_is(scene: Scene, cell: Cell) -> str:
    again = f'run(cells=["{scene.short(cell.id)}"])'
    match cell.state:
        case "never_run":
            return f"it has not run, {again}"
        case "ok":
            how = "is stale" if cell.id in scene.stale else "ran, but what it defined is not in this kernel"
            return f"it {how}, {again}"
        case state if state in FAILED:
            return f"it failed ({state}), fix it first"
        case state:
            return f"it is {state}"


def _definers(notebook: Notebook, name: str) -> list[Cell]:
    """The cells that define a name, as they ran; where none did, as they are written."""
    live = [cell for cell in list(notebook.live_cells)[:_MOST_CELLS] if cell.runs]
    ran = [cell for cell in live if cell.execution is not None and name in (cell.execution.defines or ())]
    # Only sources that have the word are read as Python.
    return ran or [cell for cell in live if name in cell.source and name in _written(notebook, cell)]


def _defined(notebook: Notebook) -> set[str]:
    found = set(notebook.definers)
    for cell in list(notebook.live_cells)[:_MOST_CELLS]:
        if cell.runs:
            ran = cell.execution.defines if cell.execution is not None else None
            found.update(ran if ran is not None else _written(notebook, cell))
    return found


def _written(notebook: Notebook, cell: Cell) -> tuple[str, ...]:
    if len(cell.source) > _MOST_SOURCE:
        return ()
    names = analyse(cell.source, _language(notebook))
    return names.defines if names is not None else ()


def _language(notebook: Notebook) -> str:
    for key in ("kernelspec", "language_info"):
        said: Any = notebook.metadata.get(key)
        fields = cast("dict[str, Any]", said) if isinstance(said, dict) else {}
        language = fields.get("language") or (fields.get("name") if key == "language_info" else None)
        if isinstance(language, str):
            return language
    return "python"


# ---- Columns


def _column(scene: Scene, cell: Cell, said: str) -> Iterator[str]:
    """The columns of the frame that was shown last before the cell."""
    wanted = said.strip("'\" ")[:200]
    for each in reversed(_before(scene.notebook, cell)):
        for output in reversed(each.execution.outputs if each.execution is not None else []):
            frame = frame_in(output.data) if isinstance(output, Display) else None
            if frame is not None:
                names = [name for name, _ in frame.names]
                close = nearest(wanted, names)
                shown = ", ".join([*close, *(name for name in names if name not in close)][:_MOST_COLUMNS])
                yield f"the frame in {scene.short(each.id)} has the columns {shown}"
                return


def _before(notebook: Notebook, cell: Cell) -> list[Cell]:
    found: list[Cell] = []
    for each in notebook.live_cells:
        if each.id == cell.id:
            break
        found.append(each)
    return found[-200:]
