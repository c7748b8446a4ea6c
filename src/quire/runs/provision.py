"""What a notebook needs around it: kernel, variables, packages, secrets.

What it declares and nobody provides is asked for where somebody can answer, and refused by
name elsewhere. How to ask is none of this module's business: doors/cli/screen.py does it on a
terminal. What is typed goes to the kernel and nowhere else. A package is only ever installed by
the very command that was shown and agreed to.

A kernel that somebody chose for a notebook is kept in its metadata, under `quire`. One that is not on this machine is not
started: the usual one of its language and its folder takes its place, and a warning says so.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import msgspec

from ..core.errors import BadInput, QuireError
from ..core.events import Draft, MetadataSet
from ..core.ids import LogId
from ..core.notebook.notebook import Notebook
from ..core.sheet.conversion import sheet_of
from ..core.sheet.sheet import OURS, Sheet
from ..core.values import Json
from ..kernels.cell_code import check_languages
from ..kernels.env_file import variables
from ..kernels.environments import find, registered
from ..kernels.kernel_environment import kernel_environment
from ..kernels.kernel_protocol import Spec
from ..kernels.requirements import MissingRequirements, Needs, missing, needs_of
from ..kernels.sql_cells import check_language
from ..outputs.secrets import Remover
from ..workspace.clock import new_id
from ..workspace.wire.bodies import KernelFound, KernelsFound

if TYPE_CHECKING:
    from ..workspace.local import LocalWorkspace


class Prompter(Protocol):
    """Somebody who can be asked before a run begins."""

    def value(self, name: str, *, is_secret: bool) -> str:
        """Return the value for a variable; an empty one is no answer."""
        ...

    def agrees(self, why: str, command: str) -> bool:
        """Say whether to run a command."""
        ...


class Provisions(msgspec.Struct, frozen=True, kw_only=True):
    """All that a notebook needs around it."""

    env: dict[str, str]
    """The variables of its kernel."""
    secrets: dict[str, str]
    """Those whose values must not be kept."""
    warnings: tuple[str, ...]


def provide(
    what: str, sheet: Sheet, spec: Spec, folder: Path, environ: Mapping[str, str], ask: Prompter | None
) -> Provisions:
    """Return what the notebook in `folder` needs, or refuse it by name. `what` is what messages call it."""
    for cell in sheet.cells:
        if cell.kind == "sql":
            check_language(spec.language, f"cell {cell.id}")
    check_languages(sheet, spec.language)
    needs, found = needs_of(sheet), variables(folder, environ)
    env = complete(what, needs, spec, kernel_environment(found.env), ask)
    secrets = {name: env[name] for name in needs.secrets}
    unread = (f"{found.path}, line {line}: not understood, and passed over." for line in found.unread)
    return Provisions(env=env, secrets=secrets, warnings=(*unread, *Remover(secrets).ignored.values()))


def check_output(output: str | None, secrets: Mapping[str, str]) -> None:
    """Refuse a path that would tell a secret: it could not be removed from there."""
    if output is not None and (told := Remover(secrets).clean_text(output)) != output:
        raise BadInput(f"The output would be called {told}, and files tell their names. Name it without the secret.")


def with_kernel(what: str, find: Callable[[], Spec], env: Mapping[str, str], ask: Prompter | None) -> Spec:
    """Return the kernel that `find` finds; offer to add what its environment lacks to have one."""
    try:
        return find()
    except BadInput as error:
        packages, interpreter = error.details.get("packages"), error.details.get("interpreter")
        if ask is None or packages is None or not isinstance(interpreter, str):
            raise
        _offer(what, tuple(packages), interpreter, env, ask)
    return find()


def complete(
    what: str, needs: Needs, spec: Spec, env: Mapping[str, str], ask: Prompter | None = None
) -> dict[str, str]:
    """Return the variables for a kernel in which all is there that a notebook declares.

    `what` names the notebook. Without somebody to ask, or without an answer, what is missing is
    refused, all of it in one message.
    """
    made = dict(env)
    lacks = missing(needs, spec, made)
    if ask is None or lacks == MissingRequirements():
        _refuse(what, lacks, spec, made)
        return made
    # What cannot be asked for is refused first: nobody is to type a password for nothing.
    _refuse(what, MissingRequirements(python=lacks.python), spec, made)
    for name in lacks.variables:
        if answer := ask.value(name, is_secret=name in needs.secrets):
            made[name] = answer
    if lacks.packages:
        _offer(what, lacks.packages, spec.interpreter or sys.executable, made, ask)
    _refuse(what, missing(needs, spec, made), spec, made)
    return made


def _offer(what: str, packages: tuple[str, ...], interpreter: str, env: Mapping[str, str], ask: Prompter) -> None:
    command = command_for(packages, interpreter, env)
    if ask.agrees(f"{what} needs {', '.join(packages)} in {interpreter}.", shlex.join(command)):
        # `python -m` would take modules from the folder of the notebook; uv reads its settings there.
        where = "/" if command[0] == interpreter else None
        # What it prints is no result of ours: stdout stays clean.
        subprocess.run(command, env=kernel_environment(env), cwd=where, stdout=sys.stderr.fileno(), check=False)  # noqa: S603 - as agreed


def command_for(packages: tuple[str, ...], interpreter: str, env: Mapping[str, str]) -> list[str]:
    """Return the command that adds packages to an environment, with what is there to do it."""
    uv = shutil.which("uv", path=env.get("PATH"))
    beside = Path(sys.executable).with_name("uv")
    if uv is None and not beside.exists() and (Path(interpreter).with_name("pip")).exists():
        return [interpreter, "-m", "pip", "install", *packages]
    return ["uv" if uv is not None or not beside.exists() else str(beside), *_UV, interpreter, *packages]


_UV = ("pip", "install", "--python")


def _refuse(what: str, lacks: MissingRequirements, spec: Spec, env: Mapping[str, str]) -> None:
    """Refuse by name, before the first cell, what is missing."""
    said: list[str] = []
    if lacks.variables:
        is_set, it = ("is not set", "it") if len(lacks.variables) == 1 else ("are not set", "them")
        said.append(
            f"{what} needs {', '.join(lacks.variables)}, which {is_set}. "
            f"Set {it}, or put {it} into a .env beside the notebook."
        )
    if lacks.python:
        said.append(
            f"{what} needs Python {lacks.python}; {spec.interpreter} is another. "
            f"Activate an environment that fits, or name a kernel: -k."
        )
    details: dict[str, object] = {"variables": list(lacks.variables), "packages": list(lacks.packages)}
    if lacks.packages:
        command = shlex.join(command_for(lacks.packages, spec.interpreter or sys.executable, env))
        details["command"] = command
        said.append(f"{what} needs {', '.join(lacks.packages)} in {spec.interpreter}. Run `{command}`.")
    if said:
        raise BadInput(" ".join(said), **details)


# ---- Which kernel


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
