"""Which names a cell defines and uses: what staleness stands on."""

from __future__ import annotations

import builtins
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core.python.cell_names import Names, analyse


def names(source: str) -> tuple[str, str]:
    """What is defined and what is used, as words."""
    found = analyse(source, "python")
    assert found is not None, source
    return " ".join(found.defines), " ".join(found.uses)


@pytest.mark.parametrize(
    ("source", "defines", "uses"),
    [
        ("", "", ""),
        ("# only a comment", "", ""),
        ("x = 1\nprint(x, y)", "x", "y"),
        ("x = x + 1", "x", "x"),
        ("x += 1", "x", "x"),
        ("a, (b, *c), d.e, f[g] = h", "a b c d f", "d f g h"),
        ("x: T = y\nz: int", "x", "T y"),
        ("if (n := len(xs)) > 3: print(n)", "n", "xs"),
        ("import a.b, c.d as e\nfrom f import g as h, i\nfrom . import j", "a e h i j", ""),
        ("for i, j in xs: pass", "i j", "xs"),
        ("async def f(): await g()\nawait f()", "f", "g"),
        ("with open(p) as f, lock: text = f.read()", "f text", "lock p"),
        (
            "try:\n    a()\nexcept Oops as error:\n    b = error\nelse:\n    c = 1\nfinally:\n    d = 2",
            "b c d error",
            "Oops a",
        ),
        ("del x, y[0], z.w", "x y z", "x y z"),
        ("x = 1\ndel x\nprint(x)", "x", "x"),
        ("class A(B, metaclass=M):\n    c = d\n    e = c\n    def m(self): return c, A, w", "A", "B M c d w"),
        ("@decorate(k)\ndef f(x: T, *y, z=v, **w) -> U: return x, y, z, w, q", "f", "T U decorate k q v"),
        ("lambda a, *b, c=d: a + b + c + e", "", "d e"),
        ("[x for x in xs if x > k]\n{a: b for a, b in ys}\nset(z for z in zs for y in z)", "", "k xs ys zs"),
        ("x = 1\nys = [x for x in x]", "x ys", ""),
        ("any((last := x) for x in xs)", "last", "xs"),
        ("f'{a!r:>{b}} {{c}}'", "", "a b"),
        ("print(sum, len, __name__, display(In, Out, _))", "", ""),
        ("for _ in range(3): pass", "", ""),
        ("frame['a'] = frame['b'] * 2\nmodel.rate.value = 3", "frame model", "frame model"),
        ("a[i][j].b += 1", "a", "a i j"),
        ("f(x).y = 1", "", "f x"),
        ("[0 for x[0] in xs]", "", "x xs"),
        ("exec = 1\nexec(2)", "exec", ""),
        ("vars(x), dir(y)", "", "x y"),
        ("while go():\n    n = 1", "n", "go"),
        ("global g\ng = 1", "g", ""),
    ],
)
def test_names_are_read_from_the_syntax_tree(source: str, defines: str, uses: str) -> None:
    assert names(source) == (defines, uses)


@pytest.mark.parametrize(
    ("pattern", "defines", "uses"),
    [
        ("[a, *rest]", "a rest", ""),
        ("{'k': v, **others}", "others v", ""),
        ("Point(x=0, y=y) as point", "point y", "Point"),
        ("Color.RED | 3", "", "Color"),
        ("x if x > limit", "x", "limit"),
    ],
)
def test_patterns_bind_what_they_capture(pattern: str, defines: str, uses: str) -> None:
    used = " ".join(sorted([*uses.split(), "subject"]))
    assert names(f"match subject:\n    case {pattern}: pass") == (defines, used)


@pytest.mark.parametrize(
    ("source", "uses"),
    [
        ("if a:\n    x = 1\nelse:\n    x = 2\nprint(x)", "a"),
        ("if a:\n    x = 1\nprint(x)", "a x"),
        ("for i in xs:\n    x = i\nprint(x, i)", "i x xs"),
        ("for i in xs:\n    x = i\n    print(x, i)", "xs"),
        ("try:\n    import q\nexcept ImportError:\n    q = None\nprint(q)", ""),
        ("try:\n    x = f()\nexcept Exception:\n    pass\nprint(x)", "f x"),
        ("try:\n    x = f()\nfinally:\n    pass\nprint(x)", "f"),
        ("try:\n    pass\nexcept* OSError as group:\n    print(group)", ""),
        ("with f() as x:\n    y = x\nprint(x, y)", "f"),
        ("match s:\n    case 1: x = 1\n    case _: x = 2\nprint(x)", "s"),
        ("match s:\n    case 1: x = 1\nprint(x)", "s x"),
        ("a and (x := 1)\nprint(x)", "a x"),
        ("y = (x := 1) if a else 2\nprint(x)", "a x"),
        ("(x := 1) and a\nprint(x)", "a"),
    ],
)
def test_a_name_is_used_unless_the_cell_has_surely_defined_it_before(source: str, uses: str) -> None:
    assert names(source)[1] == uses


@pytest.mark.parametrize(
    ("source", "defines", "uses"),
    [
        ("def f():\n    return g() + x\ndef g(): return 1", "f g", "x"),
        ("x = 1\ndef f(): return x", "f x", ""),
        ("def f(): return x\nf()\nx = 2", "f x", "x"),
        ("def f():\n    y = 1\n    def inner(): return y + z\n    return inner", "f", "z"),
        ("def f():\n    y = 1\n    def inner():\n        nonlocal y\n        y += w\n    return inner", "f", "w"),
        ("def f():\n    global total\n    total = total + 1", "f total", "total"),
        ("def f():\n    frame['x'] = 1", "f", "frame"),
        ("def f(x):\n    x = x\n    return [x for y in x]", "f", ""),
        ("def f():\n    if a: b = 1\n    return b", "f", "a"),
        ("def f(n): return f(n - 1)", "f", ""),
        ("def f():\n    import os\n    class K:\n        def m(self): return os, K, far\n    return K", "f", "far"),
    ],
)
def test_a_function_reads_its_names_when_it_is_called(source: str, defines: str, uses: str) -> None:
    assert names(source) == (defines, uses)


@pytest.mark.parametrize(
    ("source", "defines", "uses"),
    [
        ("%matplotlib inline\nx = 1", "x", ""),
        ("  %config InlineBackend.figure_format = 'retina'", "", ""),
        ("!ls -l\ny = x", "y", "x"),
        ("!!ls", "", ""),
        ("files = !ls {folder}/$name $$HOME {{a}}\nprint(files)", "files", "folder name"),
        ("a, b = %sql select 1", "a b", ""),
        ("%time y = f(x)", "y", "f x"),
        ("%timeit -n 10 -r3 f(x)", "", "f x"),
        ("%timeit y = f(x)", "", "f x"),
        ("times = %timeit -o f(x)", "times", "f x"),
        ("%time", "", ""),
        ("frame?\n??frame.head\nx = 1", "x", ""),
        ("if a:\n    !rm $b\nelse:\n    %cd there\n    c = 1", "c", "a b"),
        ("def f():\n    %time g(q)", "f", "g q"),
        ("!echo one \\\n  $two\nx = 1", "x", "two"),
        ("x = 1\r\n%time f(x, z)\r\n", "x", "f z"),
        ("text = '''\n%foo\n!bar\n'''\nx = 5 %text\ny = x!=text", "text x y", ""),
        ("%pip install a\nimport a", "a", ""),
    ],
)
def test_lines_of_ipython_do_not_break_it(source: str, defines: str, uses: str) -> None:
    assert names(source) == (defines, uses)


@pytest.mark.parametrize(
    "source",
    [
        "x = (",
        "%%bash\nls",
        "\n  %%time\nx = 1",
        "from m import *",
        "exec('x = 1')",
        "print(eval(text))",
        "globals()['x'] = 1",
        "def f(): return locals()",
        "get_ipython().run_line_magic('run', 'x')",
        "%run other.py",
        "%store -r x",
        "not python at all",
        "print 'two'",
        "x = 1\0",
        "\ud800 = 1",
        "-" * 200_000 + "1",
        "(" * 5_000 + ")" * 5_000,
        "a" + "+a" * 50_000,
        "not " * 50_000 + "x",
        "x = 1\n" * 200_000,
    ],
    ids=lambda source: repr(source[:20]),
)
def test_where_nobody_can_say_there_is_no_answer(source: str) -> None:
    assert analyse(source, "python") is None


@pytest.mark.parametrize("language", ["r", "julia", "bash", "sql", "", "python2"])
def test_other_languages_are_not_analysed(language: str) -> None:
    assert analyse("x = 1", language) is None


@pytest.mark.parametrize("language", ["python", "Python", "ipython", "python3"])
def test_python_goes_by_several_names(language: str) -> None:
    assert analyse("x = y", language) == Names(defines=("x",), uses=("y",))


def test_a_wrong_escape_in_a_string_is_no_concern_here() -> None:
    """pytest makes every warning an error."""
    assert names(r"pattern = '\d'") == ("pattern", "")


STATEMENTS = st.sampled_from(
    [
        "{a} = {b}",
        "{a} += 1",
        "if {b}:\n    {a} = 1",
        "if {b}:\n    {a} = 1\nelse:\n    {a} = 2",
        "for {a} in [{b}]:\n    pass",
        "for i in range(0):\n    {a} = {b}",
        "try:\n    {a} = {b}\nexcept ValueError:\n    pass",
        "try:\n    1 / 0\n    {a} = 1\nexcept ZeroDivisionError as {b}:\n    pass",
        "{a} = [{b} for {b} in [1]]",
        "def f():\n    return {b}\n{a} = f()",
        "def g():\n    global {a}\n    {a} = {b}\ng()",
        "class K:\n    {a} = {b}",
        "match {b}:\n    case 5:\n        pass\n    case {a}:\n        pass",
        "del {a}",
        "({a} := {b})",
        "lambda: {b}",
    ]
)
VARIABLES = st.sampled_from("xyz")


class Watched(dict[str, Any]):
    """A namespace that notes what is read from outside the cell, and what is written."""

    def __init__(self) -> None:
        super().__init__(__builtins__=builtins, __name__="cell", x=1, y=2, z=3)
        self.read: set[str] = set()
        self.written: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        if name not in self.written:
            self.read.add(name)
        return super().__getitem__(name)

    def __setitem__(self, name: str, value: Any) -> None:
        self.written.add(name)
        super().__setitem__(name, value)

    def __delitem__(self, name: str) -> None:
        if name not in self.written:
            self.read.add(name)
        self.written.add(name)
        super().__delitem__(name)


@pytest.mark.generated
@given(st.lists(st.tuples(STATEMENTS, VARIABLES, VARIABLES), max_size=5))
def test_what_really_happens_was_foretold(parts: list[tuple[str, str, str]]) -> None:
    """Names that running the cell reads from outside, or writes, are among those that were found."""
    source = "\n".join(statement.format(a=a, b=b) for statement, a, b in parts)
    found = analyse(source, "python")
    assert found is not None
    space = Watched()
    try:
        # Apart, so that the top level goes through the dictionary; functions see its plain values.
        exec(compile(source, "cell", "exec"), dict(space), space)
    except (NameError, TypeError, UnboundLocalError, AttributeError):
        return
    ours = {"x", "y", "z"}
    assert space.read & ours <= set(found.uses)
    assert space.written & ours <= set(found.defines)
