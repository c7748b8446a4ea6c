"""Whether a cell can be read at all: faults are found, and nothing that IPython takes is refused."""

from __future__ import annotations

import ast
import re
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from IPython.core.inputtransformer2 import TransformerManager

from quire.core.python.parse import fault_in


@pytest.mark.parametrize(
    "source",
    [
        "",
        "# only a comment",
        "x = 1\n%time y = f(x)\n!ls -l {x}\nprint(x)",
        "files = !ls\nfirst = %sql select 1",
        "%%bash\nfor x in *; do echo $x; done",
        "%%time\nx = 1",
        "%%capture out\nfor x in range(3):\n    !echo $x",
        "frame?\n?frame\nframe.head??",
        "if True:\n    %matplotlib inline\n    !pip install \\\n        pandas \\\n        polars\nx = 1",
        "await fetch()\nasync with lock:\n    pass",
        "    x = 1\n    !ls\n    y = 2",
        "ls -la\ncd ..\npip install pandas",
        "/f 1, 2\n,f a b",
        '%pip list\ntext = """\n%d apples"""\nprint(text)',
        "!ls\nx = [\n    10\n    %3,\n]",
        ">>> x = 1\n1",
        "In [3]: x = 1",
        "!ls\nx = 'it''s' + \"a\"\"\" \ny = 2",
        "x = 5 \\\n%3\n!ls",
        "(" * 150 + ")" * 150,
    ],
)
def test_what_ipython_takes_is_no_fault(source: str) -> None:
    """An edit is refused for code that cannot run, never for a magic."""
    assert fault_in(source) is None


@pytest.mark.parametrize(
    ("source", "line", "column"),
    [
        ("x = (1,\ny = 2", 1, 5),
        ("def f():\nreturn 1", 2, 1),
        ("%time f()\nprint 'x'\n", 2, 1),
        ("!ls \\\n  -l\nx = = 1", 3, 5),
        ("    x = 1\n    y = = 2", 2, 9),
        ("%%time\nx = = 1", 2, 5),
        ("x = 1\0", 1, 1),
    ],
)
def test_a_fault_is_found_where_it_is(source: str, line: int, column: int) -> None:
    """Lines of IPython's keep the numbers of the lines after them."""
    found = fault_in(source)
    assert found is not None
    assert (found.line, found.column) == (line, column)
    assert found.message


@given(st.text("x=()[]{}'\"\\#%!?\n /,:\0é"))
def test_no_source_breaks_it(source: str) -> None:
    """Agents send anything."""
    found = fault_in(source)
    assert found is None or (found.line >= 1 and found.column >= 1 and found.message)


LINES = [
    "x = 1",
    "    y = 2",
    "if x:",
    "for i in z:  # really?",
    "!ls -l",
    "    !ls $x",
    "files = !ls",
    "%time f(x)",
    "    %matplotlib inline",
    "a, b = %who_ls",
    "%%time",
    "%%bash",
    "frame?",
    "??frame.x",
    'text = """',
    "%d apples",
    '"""',
    "'''",
    "f(",
    ")",
    "x = [1,",
    "%3]",
    "!pip install \\",
    "   pandas",
    "x = 'a\\",
    "b'",
    "# comment ?",
    "x = 5 %\\",
    "3",
    "",
    "await f()",
    "def f():",
    "    return 1",
    "print x",
    "/f 1",
    ";g a b",
    "x = '%s' % y?",
    "x = 1; !ls",
    "@f",
    "\tx",
]


@given(st.lists(st.sampled_from(LINES), max_size=6).map("\n".join))
@settings(max_examples=600)
def test_whatever_ipython_can_read_is_no_fault(source: str) -> None:
    """Its own reading of a cell is the measure."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            # What it hands to a magic is read when that runs.
            ast.parse(TransformerManager().transform_cell(re.sub(r"^(\s*%%time\n)+", "", source)))
        except SyntaxError:
            return
    assert fault_in(source) is None
