"""Which kernel a notebook has: the one that somebody chose for it, or the usual one of its language and its folder.

The choice is kept in the notebook's metadata, under `quire`. A kernel that is not on this machine is not started: the
usual one takes its place, and a warning says so.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..core.errors import BadInput, QuireError
from ..core.events import Draft, MetadataSet
from ..core.ids import LogId
from ..core.notebook.notebook import Notebook
from ..core.sheet.conversion import sheet_of
from ..core.sheet.sheet import OURS
from ..core.values import Json
from ..kernels.environments import find, registered
from ..kernels.kernel_environment import kernel_environment
from ..kernels.kernel_protocol import Spec
from ..workspace.clock import new_id
from ..workspace.wire.bodies import KernelFound, KernelsFound

if TYPE_CHECKING:
    from ..workspace.local import LocalWorkspace

KEY = "kernel"


def chosen_kernel(metadata: Mapping[str, Any]) -> str | None:
    """Return the name of the kernel that somebody chose for a notebook."""
    ours: Any = metadata.get(OURS)
    name: Any = cast("dict[str, Any]", ours).get(KEY) if isinstance(ours, dict) else None
    return name if isinstance(name, str) and name else None


def find_chosen(
    language: str,
    metadata: Mapping[str, Any],
    folder: Path,
    environ: Mapping[str, str],
    tell: Callable[[str], None] = lambda message: None,
) -> Spec:
    """Return the kernel of a notebook with this metadata, whose cells work in `folder`."""
    name = chosen_kernel(metadata)
    if name is not None:
        try:
            return find(language, name, cwd=folder, environ=environ)
        except BadInput as error:
            tell(f"The kernel that was chosen is not started: {error} The usual one is.")
    return find(language, None, cwd=folder, environ=environ, preferred=preferred_kernel(metadata))


def preferred_kernel(metadata: Mapping[str, Any]) -> str | None:
    """Return the name in Jupyter's own field, which counts among the kernels of a language other than Python."""
    kernelspec: Any = metadata.get("kernelspec")
    return cast("dict[str, Any]", kernelspec).get("name") if isinstance(kernelspec, dict) else None


def kernels_for(notebook: Notebook, home: Path) -> KernelsFound:
    """Return the kernels that a notebook could have on this machine, the usual one first."""
    from .host.host_settings import folder_of

    folder, environ = folder_of(notebook, home), kernel_environment(os.environ)
    sheet = sheet_of(notebook, {})
    try:
        spec = find(sheet.language, None, cwd=folder, environ=environ, preferred=preferred_kernel(sheet.metadata))
        usual = _found("", spec)
    except QuireError as error:
        usual = KernelFound(
            name="", title="Usual kernel", language=sheet.language, interpreter=None, problem=str(error)
        )
    others = [_found(name, spec) for name, spec in registered(folder, environ)]
    return KernelsFound(kernels=[usual, *others], chosen=chosen_kernel(notebook.metadata) or "")


def _found(name: str, spec: Spec | BadInput) -> KernelFound:
    if isinstance(spec, BadInput):
        return KernelFound(name=name, title=name, language="", interpreter=None, problem=str(spec))
    title = spec.display_name or spec.name
    return KernelFound(name=name, title=title, language=spec.language, interpreter=spec.interpreter, problem=None)


async def choose_kernel(workspace: LocalWorkspace, log: LogId, name: str, home: Path) -> None:
    """Record which kernel a notebook is to have from its next start on; "" is the usual one."""
    notebook = await workspace.read(log)
    if name == (chosen_kernel(notebook.metadata) or ""):
        return
    if name:
        find(
            sheet_of(notebook, {}).language, name, cwd=home, environ=kernel_environment(os.environ)
        )  # or it is refused
    before: Any = notebook.metadata.get(OURS)
    ours: dict[str, Json] = dict(cast("dict[str, Json]", before)) if isinstance(before, dict) else {}
    ours.pop(KEY, None)
    if name:
        ours[KEY] = name
    event = MetadataSet(values={OURS: ours}) if ours else MetadataSet(removed=(OURS,))
    await workspace.submit(log, [Draft(id=new_id(), event=event)])
