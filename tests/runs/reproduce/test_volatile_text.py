"""What is another in every run does not count, and all else does."""

from __future__ import annotations

import pytest

from quire.runs.reproduce.volatile_text import settled, settled_value


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("<object object at 0x7f3a12>", "<object object at 0xdeadbeef01>"),
        ("/tmp/ipykernel_12/345.py:3: UserWarning: x", "/tmp/ipykernel_7/99.py:3: UserWarning: x"),
        ("Cell In[3], line 1", "Cell In[12], line 1"),
        ("CPU times: user 3 ms, sys: 1 ms\nWall time: 4 ms\n7", "CPU times: user 9 s\nWall time: 5.2 s\n7"),
        (
            "1.2 ms ± 3 μs per loop (mean ± std. dev. of 7 runs, 10 loops each)",
            "9 ns ± 1 ns per loop (mean ± std. dev. of 7 runs, 100 loops each)",
        ),
        ("100%|██| 10/10 [00:01<00:00,  9.1it/s]", "100%|██| 10/10 [00:02<00:00,  4.0it/s]"),
        ("0.00s - Debugger warning: frozen", "0.01s - Debugger warning: frozen"),
        ("5it [00:00, 12.3it/s]", "5it [00:01, 3.3it/s]"),
        ('<table id="T_1a2b3"><td id="T_1a2b3_row0_col0">', '<table id="T_ffff0"><td id="T_ffff0_row0_col0">'),
    ],
)
def test_what_is_another_in_every_run_does_not_count(one: str, other: str) -> None:
    assert settled(one) == settled(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("0x10", "0x11"),
        ("at 10:15", "at 10:16"),
        ("1700000000.1", "1700000001.1"),
        ("9/10 [00:01<00:00, 9it/s]", "10/10 [00:01<00:00, 9it/s]"),
        ("took 3 ms", "took 4 ms"),
        ("T_abc", "T_abd"),
        ("[1, 2]", "[1, 3]"),
        ("8e0a7b3c-1f2d-4a5b-9c8d-7e6f5a4b3c2d", "8e0a7b3c-1f2d-4a5b-9c8d-7e6f5a4b3c2e"),
    ],
)
def test_all_else_counts(one: str, other: str) -> None:
    assert settled(one) != settled(other)


def test_ids_in_markup_and_of_widgets_do_not_count() -> None:
    one, other = ('<div id="8e0a7b3c-1f2d-4a5b-9c8d-7e6f5a4b3c2' + end + '">' for end in "de")
    assert settled(one, "text/html") == settled(other, "text/html")
    view = "application/vnd.jupyter.widget-view+json"
    assert settled_value({"model_id": "a"}, view) == settled_value({"model_id": "b"}, view)
    assert settled_value({"a": [f"<x at 0x{each}>" for each in "12"]}) == {"a": ["<x at 0x…>", "<x at 0x…>"]}
