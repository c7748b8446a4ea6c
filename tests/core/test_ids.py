"""Names of things."""

from __future__ import annotations

import random

import pytest

from quire.core.errors import BadInput, NotFound
from quire.core.ids import (
    CellId,
    actor_kind,
    check_actor,
    check_cell_id,
    check_id,
    check_key,
    new_cell_ids,
    resolve,
    ulid,
)


def test_ids_that_we_make_are_unique_by_their_first_four_characters() -> None:
    taken = ["a", "bcde-from-jupyter", "x1y2"]
    made = new_cell_ids(2000, taken, random.Random(1).randbytes)
    assert len({each[:4] for each in made}) == 2000
    for each in made:
        check_cell_id(each)
        assert each[0].isalpha()
        assert not any(each.startswith(other[:4]) for other in taken)
        assert resolve(each[:4], made, "cell") == each


def test_a_full_id_beats_a_prefix() -> None:
    ids = [CellId("ab"), CellId("abc"), CellId("abcd")]
    assert resolve("ab", ids, "cell") == "ab"
    assert resolve("abcd", ids, "cell") == "abcd"


def test_an_ambiguous_or_unknown_id_says_what_was_meant() -> None:
    ids = [CellId("load1111"), CellId("load2222"), CellId("show3333")]
    with pytest.raises(BadInput, match="load1111, load2222"):
        resolve("load", ids, "cell")
    with pytest.raises(NotFound) as missing:
        resolve("shaw3333", ids, "cell")
    assert missing.value.details["nearest"][0] == "show3333"
    with pytest.raises(NotFound):
        resolve("", ids, "cell")


def test_ulids_sort_by_time() -> None:
    entropy = random.Random(1).randbytes
    made = [ulid(milliseconds, entropy) for milliseconds in (0, 1, 1_700_000_000_000, 2**48 - 1)]
    assert made == sorted(made)
    assert {len(each) for each in made} == {26}


@pytest.mark.parametrize("text", ["", "a" * 65, "../x", "a b", "a\n", "é", "-a"])
def test_an_id_fits_into_a_url_and_a_file_name(text: str) -> None:
    with pytest.raises(BadInput):
        check_id(text, "Log")


@pytest.mark.parametrize(
    "text", ["ada", "human:", "human:a b", "robot:x", "human:a:b", "imported:human:ada", "human:\x1b[m"]
)
def test_an_actor_says_its_kind_and_nobody_calls_themselves_imported(text: str) -> None:
    with pytest.raises(BadInput):
        check_actor(text)


def test_what_is_well_formed_passes() -> None:
    assert actor_kind(check_actor("human:Jörg")) == "human"
    check_key("nightly @ 2026-01-01T06:00")
    for text in ("", "a" * 201, "a\n"):
        with pytest.raises(BadInput):
            check_key(text)
