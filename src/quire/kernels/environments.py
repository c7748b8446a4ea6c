"""Which kernel runs a notebook, and in which interpreter.

Without a name a Python notebook runs where its author works: in the environment that is active,
else in the nearest `.venv`, else in Quire's own interpreter. No kernelspec has to be registered
for that. A name, or another language, asks Jupyter's kernelspecs.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, cast

import msgspec

from ..core.errors import BadInput, Unavailable
from ..formats.registry import LANGUAGES
from .kernel_environment import interpreter as interpreter_for
from .kernel_environment import kernel_environment
from .kernel_protocol import Spec
from .process.prestart import LAUNCH

# What cells type is in the log: a second copy on disk costs ten milliseconds a cell. Nobody polls for a
# parent: kernels/process/watchdog.py does. And ipykernel sleeps after each cell, for outputs to get ahead of the reply: we wait for both.
_OPTIONS = ("--HistoryManager.hist_file=:memory:", "--IPKernelApp.parent_handle=1", "--IPythonKernel._execute_sleep=0")
_IPYKERNEL = ("ipykernel_launcher", "ipykernel")
_ANY_PYTHON = re.compile(r"python(3(\.\d+)?)?")
_ASK_SECONDS = 30


def find(
    language: str,
    kernel_name: str | None,
    *,
    cwd: Path,
    environ: Mapping[str, str],
    own_interpreter: str = sys.executable,
    preferred: str | None = None,
) -> Spec:
    """Choose the kernel for a notebook of `language` in the folder `cwd`.

    `preferred` is the name in the notebook's metadata: of several kernels for a language other
    than Python, that one is taken.
    """
    if kernel_name is None and _same_language(language, "python"):
        # A notebook that says no language is taken for one in Python; its kernel may say otherwise.
        if preferred is not None and not _ANY_PYTHON.fullmatch(preferred):
            foreign = _KernelspecIndex(cwd, environ, own_interpreter).foreign(preferred)
            if foreign is not None:
                return foreign
        return python_kernel(interpreter_for(cwd, environ, own_interpreter), environ, own_interpreter)
    registered = _KernelspecIndex(cwd, environ, own_interpreter)
    if kernel_name is not None:
        return registered.named(kernel_name)
    return registered.for_language(language, preferred)


def registered(
    cwd: Path, environ: Mapping[str, str], own_interpreter: str = sys.executable
) -> Iterator[tuple[str, Spec | BadInput]]:
    """Every kernel that Jupyter knows here, by its name; for one that is broken, why."""
    known = _KernelspecIndex(cwd, environ, own_interpreter)
    for name in known.names:
        try:
            yield name, known.named(name)
        except BadInput as error:
            yield name, error


def _same_language(one: str, other: str) -> bool:
    """Whether two names that kernels use mean the same language."""
    one, other = one.lower(), other.lower()
    return one == other or any(one in names and other in names for names in LANGUAGES.values())


# ---- Which Python


def python_kernel(interpreter: Path, environ: Mapping[str, str], own: str = sys.executable) -> Spec:
    """Return the kernel of a Python that is known by its path; it needs ipykernel."""
    check_ipykernel(str(interpreter), own)
    return Spec(
        argv=(str(interpreter), LAUNCH, "-f", "{connection_file}", *_OPTIONS),
        language="python",
        name="python3",
        display_name=f"Python ({_prefix(interpreter).name})",
        env=_activation(interpreter, environ),
        interpreter=str(interpreter),
        is_ours=True,
    )


def _prefix(interpreter: Path) -> Path:
    """The environment that an interpreter belongs to: not resolved, for links lead out of it."""
    return interpreter.absolute().parent.parent


def _activation(interpreter: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """What `activate` would set, so that `!pip` and `!python` in a cell mean this environment."""
    if not (_prefix(interpreter) / "pyvenv.cfg").exists():
        return {}
    changed = {"VIRTUAL_ENV": str(_prefix(interpreter))}
    folder, path = str(interpreter.absolute().parent), environ.get("PATH", os.defpath)
    if folder not in path.split(os.pathsep):
        changed["PATH"] = f"{folder}{os.pathsep}{path}"
    return changed


def check_ipykernel(interpreter: str, own: str = sys.executable) -> None:
    """Refuse an interpreter that has no ipykernel, and say how to add it."""
    if _has_ipykernel(interpreter, own):
        return
    raise BadInput(
        f"{interpreter} has no ipykernel, without which it runs no cells. "
        f"Add it: uv pip install ipykernel --python {interpreter}",
        packages=["ipykernel"],
        interpreter=interpreter,
    )


def _has_ipykernel(interpreter: str, own: str) -> bool:
    """Look where packages are. Only an interpreter that keeps them elsewhere is started and asked."""
    if any(_prefix(Path(interpreter)).glob("lib/python3*/site-packages/ipykernel/__init__.py")):
        return True
    if interpreter == own == sys.executable:
        from importlib.util import find_spec

        return find_spec("ipykernel") is not None
    return ask(interpreter, "import importlib.util as u; print(u.find_spec('ipykernel') is not None)", {}) == "True"


def ask(interpreter: str, code: str, environ: Mapping[str, str], *arguments: str) -> str:
    """Return what a line of Python prints in another interpreter."""
    try:
        done = subprocess.run(  # noqa: S603 - the interpreter that is to run the notebook
            [interpreter, "-c", code, *arguments],
            capture_output=True,
            text=True,
            # Not where the notebook is: a module of its own may be called like one of Python's.
            cwd="/",
            env=kernel_environment(environ or os.environ),
            stdin=subprocess.DEVNULL,
            timeout=_ASK_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{interpreter} cannot be started: {error}. Is it a Python?") from error
    if done.returncode:
        said = done.stderr.strip().rpartition("\n")[2]
        raise Unavailable(f"{interpreter} does not answer: {said or f'exit status {done.returncode}'}.")
    return done.stdout.strip()


# ---- Jupyter's kernelspecs


class _Kernelspec(msgspec.Struct, frozen=True):
    """A `kernel.json`, as far as it matters here."""

    argv: tuple[str, ...] = ()
    display_name: str = ""
    language: str = ""
    env: dict[str, str] = {}
    interrupt_mode: str | None = None
    metadata: dict[str, Any] = {}


class _KernelspecIndex:
    """The kernelspecs that Jupyter knows here, those of the environment in use first.

    The folders are Jupyter's to tell. They are read here: its own reader takes seven times as
    long to import, and fails for all when one is broken.
    """

    def __init__(self, cwd: Path, environ: Mapping[str, str], own: str) -> None:
        try:
            from jupyter_core.paths import jupyter_path
        except ImportError:
            raise Unavailable(
                "Kernels by name need the package jupyter_core. Try pip install 'quire[kernels]'."
            ) from None
        self._environ = environ
        self._own = own
        self._interpreter = interpreter_for(cwd, environ, own)
        first = _prefix(self._interpreter) / "share" / "jupyter" / "kernels"
        self._folders: dict[str, Path] = {}
        for folder in (first, *map(Path, jupyter_path("kernels"))):
            for file in sorted(folder.glob("*/kernel.json")):
                self._folders.setdefault(file.parent.name.lower(), file.parent)

    @property
    def names(self) -> list[str]:
        """What they are called."""
        return sorted(self._folders)

    def named(self, name: str) -> Spec:
        """The kernel of that name; names are told apart as Jupyter does, without case."""
        if name.lower() in self._folders:
            return self._spec(name.lower(), self._read(name.lower()))
        if name.lower() == "python3":
            return python_kernel(self._interpreter, self._environ, self._own)
        import difflib

        names = sorted({*self._folders, "python3"})
        near = difflib.get_close_matches(name, names, cutoff=0.5)
        known = f"Did you mean {' or '.join(near)}?" if near else f"Known: {', '.join(names)}."
        raise BadInput(f"There is no kernel {name!r} here. {known}", near=near)

    def foreign(self, name: str) -> Spec | None:
        """The kernel of that name, if it is here and speaks another language than Python."""
        found = dict(self._readable()).get(name.lower())
        if found is None or not found.language or _same_language(found.language, "python"):
            return None
        return self._spec(name.lower(), found)

    def for_language(self, language: str, preferred: str | None) -> Spec:
        """The kernel for a language: the preferred one if it is among those that fit."""
        found = dict(self._readable())
        fitting = [name for name, each in found.items() if _same_language(each.language, language)]
        if preferred is not None and preferred.lower() in fitting:
            return self._spec(preferred.lower(), found[preferred.lower()])
        if fitting:
            return self._spec(fitting[0], found[fitting[0]])
        known = ", ".join(f"{name} ({each.language})" for name, each in found.items()) or "none"
        raise BadInput(f"There is no kernel for {language!r} here. Known: {known}. Install one, or name it: -k.")

    def _readable(self) -> Iterator[tuple[str, _Kernelspec]]:
        for name in sorted(self._folders):
            with contextlib.suppress(BadInput):
                yield name, self._read(name)

    def _read(self, name: str) -> _Kernelspec:
        file = self._folders[name] / "kernel.json"
        try:
            return msgspec.json.decode(file.read_bytes(), type=_Kernelspec)
        except (OSError, ValueError) as error:
            raise BadInput(f"Kernel {name!r}: {file} cannot be read: {error}. Install that kernel again.") from None

    def _spec(self, name: str, found: _Kernelspec) -> Spec:
        from string import Template

        _check_provisioner(name, found.metadata)
        if not found.argv:
            raise BadInput(f"Kernel {name!r}: {self._folders[name]} names no command. Install that kernel again.")
        argv = [self._filled(part, str(self._folders[name])) for part in found.argv]
        if _ANY_PYTHON.fullmatch(argv[0]):
            argv[0] = str(self._interpreter)
        given = kernel_environment(self._environ)
        mode: Literal["signal", "message"] = "message" if found.interrupt_mode == "message" else "signal"
        spec = Spec(
            argv=tuple(argv),
            language=found.language.lower(),
            name=name,
            display_name=found.display_name,
            env={key: Template(value).safe_substitute(given) for key, value in found.env.items()},
            interrupt_mode=mode,
        )
        return _tuned(spec, self._own)

    def _filled(self, part: str, folder: str) -> str:
        return part.replace("{prefix}", str(_prefix(self._interpreter))).replace("{resource_dir}", folder)


def _check_provisioner(name: str, metadata: Mapping[str, Any]) -> None:
    section: Any = metadata.get("kernel_provisioner")
    given = cast("dict[str, Any]", section) if isinstance(section, dict) else {}
    provisioner = given.get("provisioner_name", "local-provisioner")
    if provisioner != "local-provisioner":
        raise BadInput(f"Kernel {name!r} is started by {provisioner!r}, which is not known here. Choose another: -k.")


def _tuned(spec: Spec, own: str) -> Spec:
    """A registered ipykernel is started as one without a name is."""
    argv = spec.argv
    pairs = enumerate(pairwise(argv))
    place = next((index for index, pair in pairs if pair[0] == "-m" and pair[1] in _IPYKERNEL), None)
    if spec.language != "python" or place is None:
        return spec
    check_ipykernel(argv[0], own)
    ours = (*argv[:place], LAUNCH, *argv[place + 2 :], *_OPTIONS)
    return msgspec.structs.replace(spec, argv=ours, interpreter=argv[0], is_ours=True)
