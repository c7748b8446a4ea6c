"""The options `--quire…`, and those of nbval where nbval is not installed. Loaded by every pytest: it imports nothing."""

from __future__ import annotations

import os
from typing import Any, cast

import pytest


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Add our options, and nbval's where it is not there to do it itself."""
    _leave_asserts(pluginmanager)
    group = parser.getgroup("quire", "notebooks as tests")
    group.addoption("--quire", action="store_true", help="Run notebooks, a test per cell, and compare their outputs.")
    group.addoption("--quire-lax", action="store_true", help="The same, and compare only cells that say so.")
    group.addoption("--quire-update", action="store_true", help="Store what the cells show now.")
    group.addoption(
        "--quire-sanitize-with",
        metavar="FILE",
        action="append",
        default=[],
        help="Rules of `regex:`, `replace:` lines.",
    )
    group.addoption("--quire-tolerance", metavar="SHARE", type=float, help="How far apart floats may be.")
    group.addoption("--quire-kernel", metavar="NAME", help="Run in this kernel.")
    group.addoption("--quire-cell-timeout", metavar="SECONDS", type=float, help="Stop a cell after so long.")
    if not _has_nbval(pluginmanager):
        _add_nbval(parser.getgroup("nbval", "notebooks as tests, by Quire in nbval's place"))


def _leave_asserts(pluginmanager: pytest.PytestPluginManager) -> None:
    """Have Quire imported as everywhere else.

    pytest compiles whatever a distribution with a plugin holds anew, for the asserts in it: of ours none is a test's, it
    takes longer, and modules that are loaded so know no sources. There is no public way to decline.
    """
    marked: Any = getattr(getattr(pluginmanager, "rewrite_hook", None), "_must_rewrite", None)
    if isinstance(marked, set):
        cast("set[str]", marked).discard("quire")


def _has_nbval(pluginmanager: pytest.PytestPluginManager) -> bool:
    """Whether nbval itself is loaded, or will be."""
    if pluginmanager.hasplugin("nbval"):
        return True
    if pluginmanager.is_blocked("nbval") or os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD"):
        return False
    from importlib.util import find_spec

    return find_spec("nbval") is not None


def _add_nbval(group: pytest.OptionGroup) -> None:
    group.addoption("--nbval", action="store_true", help="Run .ipynb, and compare all outputs exactly.")
    group.addoption("--nbval-lax", action="store_true", help="The same, for cells with # NBVAL_CHECK_OUTPUT.")
    for name in ("--nbval-sanitize-with", "--sanitize-with"):
        group.addoption(name, metavar="FILE", help="Rules of `regex:` and `replace:` lines.")
    for name in ("--nbval-current-env", "--current-env"):
        group.addoption(name, action="store_true", help="Run in the Python that pytest runs in.")
    group.addoption("--nbval-kernel-name", metavar="NAME", help="Run in this kernel.")
    seconds = {"metavar": "SECONDS", "type": float}
    group.addoption("--nbval-cell-timeout", default=2000, help="Stop a cell after so long.", **seconds)
    group.addoption("--nbval-kernel-startup-timeout", default=60, help="Wait so long for a kernel.", **seconds)


def pytest_configure(config: pytest.Config) -> None:
    """Have the rest loaded where notebooks are asked for."""
    options: Any = config.option
    is_nbval = _is_asked(config, "nbval") and not config.pluginmanager.hasplugin("nbval")
    if not (options.quire or options.quire_lax or options.quire_update or is_nbval):
        return
    if is_nbval and options.nbval_kernel_name and (options.nbval_current_env or options.current_env):
        raise pytest.UsageError("--nbval-current-env and --nbval-kernel-name exclude each other. Give one of them.")
    if is_nbval and options.sanitize_with and options.nbval_sanitize_with:
        raise pytest.UsageError("--sanitize-with and --nbval-sanitize-with are the same. Give one of them.")
    from . import items

    items.register(config)


def _is_asked(config: pytest.Config, name: str) -> bool:
    options: Any = config.option
    return bool(getattr(options, name, False) or getattr(options, f"{name}_lax", False))
