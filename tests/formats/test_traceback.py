"""What a traceback says of the code that a person wrote."""

from __future__ import annotations

from quire.formats.traceback import source_lines, trace

# As IPython writes it: one text per frame, in colours.
PYTHON = (
    "\x1b[31m" + "-" * 75 + "\x1b[39m",
    "\x1b[31mKeyError\x1b[39m                                  Traceback (most recent call last)",
    "\x1b[36mCell\x1b[39m\x1b[36m \x1b[39m\x1b[32mIn[2]\x1b[39m\x1b[32m, line 3\x1b[39m\n      1 x = 1\n----> 3 f(x)\n",
    "\x1b[36mCell\x1b[39m\x1b[36m \x1b[39m\x1b[32mIn[1]\x1b[39m\x1b[32m, line 7\x1b[39m, in f(x)\n----> 7 g(x)\n",
    "\x1b[36mFile \x1b[39m\x1b[32m~/work/mine.py:4\x1b[39m, in g(x)\n----> 4 return {}[x]\n",
    "\x1b[36mFile \x1b[39m\x1b[32m/v/lib/python3.11/site-packages/lib.py:9\x1b[39m, in h\n----> 9 pass\n",
    "\x1b[36mFile \x1b[39m\x1b[32m<frozen runpy>:88\x1b[39m, in run\n",
    "\x1b[31mKeyError\x1b[39m: 1",
)


def test_frames_of_libraries_are_left_out_and_the_line_of_the_cell_is_found() -> None:
    found = trace(PYTHON)
    assert [frame.split("\n")[0] for frame in found.frames] == [
        "Cell In[2], line 3",
        "Cell In[1], line 7, in f(x)",
        "File ~/work/mine.py:4, in g(x)",
    ]
    assert (found.left_out, found.lines) == (2, (3,))
    assert source_lines("x = 1\n\n  f(x)\x1b[2J\n", found.lines) == ["line 3: f(x)⟨U+001B⟩[2J"]
    assert source_lines("x = 1", found.lines) == []


def test_a_syntax_error_has_its_line() -> None:
    found = trace(["  \x1b[36mCell\x1b[39m In[1], line 2\n    x = (1,\n        ^\nSyntaxError: '(' was never closed\n"])
    assert found.lines == (2,) and found.frames[0].endswith("was never closed")


def test_what_other_kernels_say_is_shown_as_it_is_and_harmless() -> None:
    found = trace(["Error in f():\x1b]0;owned\x07 no", "Traceback:", ""])
    assert (found.frames, found.lines, found.left_out) == (("Error in f(): no", "Traceback:"), (), 0)
    assert trace([]).frames == ()
