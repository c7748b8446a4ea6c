"""Text by rebase on the central order (rule 8)."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core.errors import BadInput
from quire.core.text import Edit, Splice, apply, check_edit, difference, rebase, transform

from ..random_logs import TEXT, edits

pytestmark = pytest.mark.generated


@given(st.data(), TEXT)
def test_two_edits_of_one_text_lead_to_the_same_text_in_either_order(data: st.DataObject, text: str) -> None:
    """Rule 8."""
    later, earlier = data.draw(edits(len(text))), data.draw(edits(len(text)))
    later_after, earlier_after = transform(later, earlier)
    assert apply(apply(text, earlier), later_after) == apply(apply(text, later), earlier_after)
    check_edit(later_after, len(apply(text, earlier)))


SPLICES = st.builds(Splice, st.integers(0, 9), st.integers(0, 3), st.text("xy", max_size=2))


@given(SPLICES, SPLICES)
def test_two_splices_move_alone_as_they_do_beside_another(later: Splice, earlier: Splice) -> None:
    """Rule 8: there is a short way for one splice each; a third one far behind them takes the long one."""
    alone, beside = transform((later,), (earlier,)), transform((later, Splice(99, 0, "z")), (earlier,))
    far = Splice(99 + len(earlier.insert) - earlier.remove, 0, "z")
    assert (alone[0] + (far,), alone[1]) == beside


class Editor:
    """Somebody who types: shows the confirmed text with what they typed and was not confirmed yet."""

    def __init__(self, text: str) -> None:
        self.confirmed = text
        self.pending: list[Edit] = []

    @property
    def shown(self) -> str:
        text = self.confirmed
        for edit in self.pending:
            text = apply(text, edit)
        return text

    def receive(self, edit: Edit, *, own: bool) -> None:
        """Take the next edit of the log: one's own is confirmed, pending ones step aside for others'."""
        self.confirmed = apply(self.confirmed, edit)
        if own:
            self.pending.pop(0)
            return
        earlier = [edit]
        moved: list[Edit] = []
        for mine in self.pending:
            rebased, earlier = rebase(mine, earlier)
            moved.append(rebased)
        self.pending = moved


@given(st.data(), TEXT, st.integers(2, 3))
def test_editors_converge_in_every_order_of_arrival(data: st.DataObject, text: str, count: int) -> None:
    """Rule 8: two and three actors type at once, two edits each, one on top of the other."""
    typed: list[list[Edit]] = []
    for _ in range(count):
        first = data.draw(edits(len(text)))
        second = data.draw(edits(len(apply(text, first))))
        typed.append([first, second])
    arrivals = sorted(set(permutations([who for who in range(count) for _ in range(2)])))
    for order in data.draw(st.lists(st.sampled_from(arrivals), min_size=1, max_size=10)):
        _arrive(text, typed, order)


def _arrive(text: str, typed: list[list[Edit]], order: tuple[int, ...]) -> None:
    editors = [Editor(text) for _ in typed]
    for editor, edits_of_one in zip(editors, typed, strict=True):
        editor.pending = list(edits_of_one)
    log: list[tuple[int, Edit]] = []
    waiting = [list(each) for each in typed]
    # What others did since the sender's base, as the sender's next edit meets it.
    meets: list[list[Edit]] = [[] for _ in typed]
    for who in order:
        mine, meets[who] = rebase(waiting[who].pop(0), meets[who])
        log.append((who, mine))
        for other in range(len(typed)):
            if other != who:
                meets[other].append(mine)
    for who, edit in log:
        for number, editor in enumerate(editors):
            editor.receive(edit, own=number == who)
    texts = {editor.shown for editor in editors} | {editor.confirmed for editor in editors}
    assert len(texts) == 1


@given(TEXT, TEXT)
def test_a_difference_applied_to_the_old_text_gives_the_new(old: str, new: str) -> None:
    edit = difference(old, new)
    check_edit(edit, len(old))
    assert apply(old, edit) == new
    assert bool(edit) == (old != new)


def test_the_earlier_in_the_log_stands_first_where_both_insert() -> None:
    later, _ = transform((Splice(1, 0, "B"),), (Splice(1, 0, "A"),))
    assert apply("xAy", later) == "xABy"


def test_text_inserted_into_what_the_other_removes_is_kept() -> None:
    later, _ = transform((Splice(0, 6, ""),), (Splice(3, 0, "NEW"),))
    assert apply("abcNEWdef", later) == "NEW"


def test_what_both_remove_is_removed_once() -> None:
    later, _ = transform((Splice(0, 4, ""),), (Splice(2, 4, ""),))
    assert apply("ab", later) == ""


def test_positions_count_code_points() -> None:
    assert apply("🦊👩‍🚀é\r\n", (Splice(1, 3, "x"),)) == "🦊xé\r\n"


@pytest.mark.parametrize(
    "edit", [(Splice(2, 1, ""), Splice(2, 1, "")), (Splice(-1, 0, ""),), (Splice(0, -1, ""),), (Splice(4, 1, ""),)]
)
def test_an_edit_that_cannot_be_applied_is_bad_input(edit: Edit) -> None:
    with pytest.raises(BadInput):
        check_edit(edit, 4)
