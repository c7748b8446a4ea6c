"""A test that fails in CI has to fail here: the drawn cases are the same whatever else is loaded."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st


def drawn() -> list[tuple[str, int]]:
    """The cases of one generated test, with fixed seeds."""
    cases: list[tuple[str, int]] = []

    @settings(derandomize=True, database=None, max_examples=200, phases=[Phase.generate])
    @given(st.text(), st.integers())
    def collect(text: str, number: int) -> None:
        cases.append((text, number))

    collect()
    return cases


@pytest.mark.skipif(bool(os.environ.get("QUIRE_TORTURE")), reason="`make torture` draws at random")
def test_a_module_that_is_loaded_meanwhile_changes_no_drawn_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = drawn()
    (tmp_path / "constants_of_ours.py").write_text("WORD, NUMBER = 'a rare word', 887766\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    importlib.import_module("constants_of_ours")
    after = drawn()
    sys.modules.pop("constants_of_ours")
    assert after == before
