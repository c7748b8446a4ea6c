"""Sources as they are shown: nothing in them is invisible, and different ones look different. Rule 9."""

from __future__ import annotations

import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from quire.core.visible import harmless, visible, visible_line

# Pieces of marks as well as what they stand for: only where these meet could two sources look alike.
PIECES = st.sampled_from(
    [
        "⟨",
        "⟩",
        "U+",
        "001B",
        "27E8",
        "\x1b",
        "\r",
        "\n",
        "\t",
        "a",
        "\u200b",
        "\u202e",
        "\ufe0f",
        "\ud800",
        "\U000e0041",
    ]
)
SOURCES = st.lists(PIECES | st.characters(), max_size=8).map("".join)
MARK = re.compile("⟨U\\+([0-9A-F]{4,6})⟩")


def unmarked(shown: str) -> str:
    """The source, read back from how it is shown."""
    return MARK.sub(lambda mark: chr(int(mark[1], 16)), shown)


@given(SOURCES)
def test_a_source_can_be_read_back_so_different_ones_never_look_alike(source: str) -> None:
    assert unmarked(visible(source)) == source


@given(SOURCES)
def test_of_what_is_invisible_only_line_feeds_and_tabs_remain(source: str) -> None:
    hidden = {char for char in visible(source) if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
    assert hidden <= {"\n", "\t"}


@given(
    st.text(
        st.characters(categories=["L", "N", "P", "S"], exclude_characters="⟨\u115f\u1160\u3164\uffa0")
        | st.sampled_from(" \n\t")
    )
)
def test_ordinary_characters_are_shown_as_they_are(source: str) -> None:
    assert visible(source) == source


def test_every_invisible_character_of_unicode_is_marked() -> None:
    """Also in versions of Unicode that Python does not know yet: the ranges are kept for such characters."""
    assigned = (chr(number) for number in range(0x110000))
    unseen = [char for char in assigned if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")]
    assert [char for char in unseen if visible(char) == char] == ["\t", "\n"]
    selectors = [*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0), *range(0xE0000, 0xE0080), 0x115F, 0x3164, 0x180B]
    assert all(visible(chr(number)) == f"⟨U+{number:04X}⟩" for number in selectors)


def test_a_label_is_the_first_line_with_text_visible_and_cut() -> None:
    assert visible_line("\n  \n\t x = 1 \x1b]0;\nimport os\x07") == "x = 1 ⟨U+001B⟩]0;"
    assert visible_line("abcdef", 4) == "abc…"
    assert visible_line(" \n") == ""


def test_outputs_and_names_keep_their_emoji_and_lose_what_steers_a_terminal() -> None:
    assert harmless("👩\u200d💻 ❤\ufe0f ⟨x⟩") == "👩\u200d💻 ❤\ufe0f ⟨x⟩"
    assert harmless("\x1b[2J\u202egpj.exe\u2028") == "⟨U+001B⟩[2J⟨U+202E⟩gpj.exe⟨U+2028⟩"
