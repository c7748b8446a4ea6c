"""quire.kernel: what code inside a kernel records arrives exactly, in kernels with Quire and without."""

from __future__ import annotations

import ast
import datetime as dt
import math
import sys
from collections.abc import AsyncGenerator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st

from quire import kernel
from quire.core import values
from quire.core.errors import BadInput
from quire.core.ids import check_name
from quire.core.results import RecordedResult
from quire.core.sheet.equality import same
from quire.formats.scraps import recorded_in
from quire.kernels.kernel_client import KernelClient

from .kernels.real_kernels import said, started, text

SOURCE = Path(kernel.__file__).parent
IMPORTED = "from quire.kernel import result, result_file\n"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client() -> AsyncGenerator[KernelClient]:
    """One kernel for all tests."""
    async with started() as (_, client):
        await said(client, IMPORTED)
        yield client


class Run:
    """What a cell recorded, showed and said."""

    def __init__(self, messages: list[Any]) -> None:
        self.shown = [each.content for each in messages if each.type == "display_data"]
        self.recorded: dict[str, RecordedResult] = {}
        for content in self.shown:
            self.recorded |= {each.name: each for each, _ in recorded_in(content["data"], content["metadata"])}
        self.told = text(messages, "stderr")
        self.printed = text(messages)
        self.errors = [
            f"{each.content['ename']}: {each.content['evalue']}" for each in messages if each.type == "error"
        ]


async def run(client: KernelClient, code: str) -> Run:
    return Run(await said(client, code))


# ---- Values

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.binary(max_size=5)
    | st.datetimes()
    | st.dates()
    | st.times()
    | st.timedeltas()
)
keys = st.text("$ab", max_size=3) | st.integers() | st.tuples(st.integers())
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.dictionaries(keys, inner, max_size=3)
        | st.sets(st.integers(), max_size=3)
        | st.frozensets(st.text("ab"), max_size=3)
    ),
    max_leaves=8,
)


@pytest.mark.generated
@given(anything)
def test_values_are_tagged_as_everywhere_else(value: Any) -> None:
    assert same(kernel.tag(value), values.tag(value))


@pytest.mark.generated
@given(anything)
def test_tags_are_read_as_everywhere_else(value: Any) -> None:
    tagged = kernel.tag(value)
    assert repr(kernel.untag(tagged)) == repr(values.untag(tagged))


@pytest.mark.parametrize("value", [2**70, -(2**60), math.nan, -math.inf, bytearray(b"x"), Path("a/b"), (1, {2}), True])
def test_what_json_cannot_carry_is_tagged_as_everywhere_else(value: Any) -> None:
    assert kernel.tag(value) == values.tag(value)


@pytest.mark.parametrize("value", [object(), 1j, [object()], [10**5000]])
def test_what_cannot_be_kept_is_refused_as_everywhere_else(value: Any) -> None:
    with pytest.raises(BadInput):
        values.tag(value)
    with pytest.raises((TypeError, ValueError)):
        kernel.tag(value)


@pytest.mark.parametrize("name", ["", " a", "a\n", "a\u202eb", "\ud800", "x" * 201, "fine", "größe", "a b", "x" * 200])
def test_names_are_checked_as_everywhere_else(name: str) -> None:
    try:
        check_name(name, "A result's name")
    except BadInput:
        with pytest.raises(ValueError, match="A result's name is 1 to 200 visible characters"):
            kernel.check_name(name)
    else:
        kernel.check_name(name)


@pytest.mark.generated
@given(anything)
def test_the_plain_form_is_json_that_every_tool_reads(value: Any) -> None:
    assert "$float" not in repr(kernel.plain(kernel.tag({"a": value}))) or "$float" in repr(value)
    check_plain(kernel.plain(kernel.tag(value)))


def check_plain(value: Any) -> None:
    if isinstance(value, Mapping):
        for key, each in value.items():  # pyright: ignore[reportUnknownVariableType]
            assert isinstance(key, str)
            check_plain(each)
    elif isinstance(value, list):
        for each in value:  # pyright: ignore[reportUnknownVariableType]
            check_plain(each)
    else:
        assert value is None or (isinstance(value, (bool, int, str, float)) and value == value)


# ---- The file itself


@pytest.mark.parametrize("name", ["kernel.py", "scrapbook.py"])
def test_an_old_python_can_read_the_file_and_needs_nothing_but_its_library(name: str) -> None:
    tree = ast.parse((SOURCE / name).read_text(), feature_version=(3, 8))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            assert {each.name.partition(".")[0] for each in node.names} <= sys.stdlib_module_names
        elif isinstance(node, ast.ImportFrom):
            assert (node.module or "").partition(".")[0] in {*sys.stdlib_module_names, "kernel", ""}
            assert name == "scrapbook.py" or node.level == 0


# ---- In a kernel


@pytest.mark.asyncio(loop_scope="module")
async def test_a_number_is_one_display_that_is_not_seen_with_both_forms(client: KernelClient) -> None:
    (shown,) = (await run(client, "result('score', 0.94)")).shown
    assert shown["data"] == {
        "application/vnd.quire.result+json": {"name": "score", "kind": "json", "value": 0.94},
        "application/scrapbook.scrap.json+json": {"name": "score", "data": 0.94, "encoder": "json", "version": 1},
    }
    assert shown["metadata"] == {"scrapbook": {"name": "score", "data": True, "display": False}}


@pytest.mark.asyncio(loop_scope="module")
async def test_values_arrive_exactly(client: KernelClient) -> None:
    wanted = {
        "text": "Größe 🎈",
        "five": "5",
        "null": None,
        "nan": math.nan,
        "big": 2**70,
        "tuple": (1, {2}, frozenset({"a"})),
        "day": dt.date(2026, 1, 31),
        "time": dt.timedelta(days=1, seconds=5),
        "bytes": b"\0\xff",
        "odd": {"$float": "no", 3: [True]},
    }
    found = await run(
        client,
        f"import datetime\nfrom math import nan\nfor name, value in {wanted!r}.items():\n    result(name, value)",
    )
    assert found.errors == []
    assert repr({name: values.untag(each.value) for name, each in found.recorded.items()}) == repr(wanted)
    assert found.told == ""


@pytest.mark.asyncio(loop_scope="module")
async def test_what_is_shown_is_in_the_same_display(client: KernelClient) -> None:
    (shown,) = (await run(client, "result('rows', [1, 2], display=True)")).shown
    assert shown["data"]["text/plain"] == "[1, 2]"
    assert shown["metadata"]["scrapbook"] == {"name": "rows", "data": True, "display": True}


@pytest.mark.asyncio(loop_scope="module")
async def test_large_values_are_not_written_twice(client: KernelClient) -> None:
    found = await run(client, "result('long', 'x' * 100_000); result('list', list(range(50_000)))")
    assert [list(each["data"]) for each in found.shown] == [
        ["application/scrapbook.scrap.text+json"],
        ["application/scrapbook.scrap.json+json"],
    ]
    assert found.recorded["long"].value == "x" * 100_000
    assert found.recorded["list"].value == list(range(50_000))


@pytest.mark.asyncio(loop_scope="module")
async def test_a_file_is_recorded_with_its_bytes_and_its_name(client: KernelClient, tmp_path: Path) -> None:
    path = tmp_path / "report.csv"
    path.write_bytes(b"a,b\r\n1,2\r\n")
    found = (await run(client, f"result_file('report', {str(path)!r})")).recorded["report"]
    assert (found.kind, found.media, found.data, found.file) == ("file", "text/csv", b"a,b\r\n1,2\r\n", "report.csv")


@pytest.mark.asyncio(loop_scope="module")
async def test_what_can_save_a_picture_is_a_figure(client: KernelClient) -> None:
    code = """
class Plot:
    def savefig(self, file, format, bbox_inches):
        file.write(b"<svg/>" if format == "svg" else b"PNG")
result('plot', Plot(), kind='figure'); result('drawing', Plot(), kind='svg')
"""
    found = await run(client, code)
    assert [(each.kind, each.media, each.data) for each in found.recorded.values()] == [
        ("figure", "image/png", b"PNG"),
        ("figure", "image/svg+xml", b"<svg/>"),
    ]
    assert [each["metadata"]["scrapbook"]["display"] for each in found.shown] == [True, True]


@pytest.mark.asyncio(loop_scope="module")
async def test_what_can_only_be_shown_is_recorded_as_what_is_shown(client: KernelClient) -> None:
    found = await run(client, "from IPython.display import HTML\nresult('page', HTML('<b>x</b>'))")
    assert found.recorded["page"].kind == "display"
    assert found.recorded["page"].value["text/html"] == "<b>x</b>"  # pyright: ignore[reportIndexIssue, reportOptionalSubscript]


@pytest.mark.asyncio(loop_scope="module")
async def test_a_frame_that_no_library_writes_is_kept_as_rows(client: KernelClient) -> None:
    code = """
class Rows:
    columns = ["a"]
    def to_pylist(self):
        return [{"a": 1}, {"a": None}]
result('rows', Rows(), kind='frame')
"""
    found = (await run(client, code)).recorded["rows"]
    assert (found.kind, found.value) == ("frame", [{"a": 1}, {"a": None}])


@pytest.mark.asyncio(loop_scope="module")
async def test_a_name_that_was_taken_is_noted_once_and_the_last_counts(client: KernelClient) -> None:
    first = await run(client, "for number in range(3): result('taken', number)")
    assert first.told == "quire: result 'taken' was recorded before, by this cell; the last one counts.\n"
    assert first.recorded["taken"].value == 2
    assert "result 'taken' was recorded before, by [" in (await run(client, "result('taken', 5)")).told


@pytest.mark.asyncio(loop_scope="module")
async def test_a_cell_that_runs_again_is_nothing_to_note(client: KernelClient) -> None:
    assert [(await run(client, "result('again', 1)")).told for _ in range(2)] == ["", ""]


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("result('', 1)", "ValueError: A result's name is"),
        ("result(5, 1)", "TypeError: A result's name is text, not 5."),
        ("result('x', object())", "TypeError: Result 'x': a value of type object cannot be kept: use numbers"),
        ("result('x', [1j])", "TypeError: Result 'x': a value of type complex"),
        ("result('x', 10 ** 5000)", "ValueError: Result 'x': An integer of more than 4,000 digits"),
        ("result('x', 'a\\ud83d')", "ValueError: Result 'x' holds half a character"),
        ("result('x', {'\\udc80': 1})", "ValueError: Result 'x' holds half a character"),
        ("result('x', 1, kind='zip')", "ValueError: Result 'x': the kind 'zip' is not known. It is one of text, json"),
        ("result('x', 1, kind='figure')", "TypeError: Result 'x': a value of type int is no figure"),
        ("result_file('x', 'nowhere.csv')", "FileNotFoundError: Result 'x': there is no file 'nowhere.csv' in /"),
        ("a = []; a.append(a); result('x', a)", "ValueError: Result 'x' is nested too deeply, or holds itself."),
        ("result('x', b'0' * 60_000_000)", "ValueError: Result 'x' has 80,000,0"),
    ],
)
async def test_what_cannot_be_recorded_is_told_and_not_recorded(client: KernelClient, code: str, told: str) -> None:
    found = await run(client, code)
    assert found.recorded == {}
    assert found.errors[0].startswith(told)


# ---- Values of libraries


@pytest.mark.asyncio(loop_scope="module")
async def test_numbers_and_arrays_of_numpy_arrive(client: KernelClient) -> None:
    code = """
import numpy as np
result('int', np.int64(7)); result('float', np.float32(0.5)); result('bool', np.bool_(True))
result('when', np.datetime64('2026-01-31T10:00:00.5')); result('list', [np.int8(1), np.arange(2)])
result('array', np.arange(6).reshape(2, 3)); result('masked', np.ma.masked_array([1, 2], mask=[0, 1]))
"""
    found = await run(client, code)
    assert found.errors == []
    got = found.recorded
    assert {name: got[name].value for name in ("int", "float", "bool", "when", "list", "masked")} == {
        "int": 7,
        "float": 0.5,
        "bool": True,
        "when": {"$datetime": "2026-01-31T10:00:00.500000"},
        "list": [1, [0, 1]],
        "masked": [1, None],
    }
    assert (got["array"].kind, got["array"].media) == ("array", "application/x-npy")
    shown = next(each["data"] for each in found.shown if each["metadata"]["scrapbook"]["name"] == "array")
    assert shown["application/scrapbook.scrap.json+json"]["data"] == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("library", ["pandas", "polars"])
async def test_frames_arrive_as_parquet_where_scrapbook_looks(client: KernelClient, library: str) -> None:
    found = await run(
        client, f"import {library} as lib\nresult('frame', lib.DataFrame({{'a': [1, None], 'b': ['x', 'y']}}))"
    )
    frame = found.recorded["frame"]
    assert (frame.kind, frame.media) == ("frame", "application/vnd.apache.parquet")
    assert frame.data is not None
    assert list(found.shown[0]["data"]) == ["application/scrapbook.scrap.pandas+json"]
    assert kernel.opened("frame", frame.data, frame.media)["b"].tolist() == ["x", "y"]


@pytest.mark.asyncio(loop_scope="module")
async def test_series_lazy_frames_and_tables_are_frames(client: KernelClient) -> None:
    code = """
import pandas, polars, pyarrow
result('series', pandas.Series([1, 2], name='a')); result('column', polars.Series('a', [1, 2]))
result('lazy', polars.LazyFrame({'a': [1, 2]})); result('table', pyarrow.table({'a': [1, 2]}))
result('odd', pandas.DataFrame({'a': [1, 'x']}))
"""
    found = await run(client, code)
    assert found.errors == []
    frames = {name: found.recorded[name] for name in ("series", "column", "lazy", "table")}
    for name, each in frames.items():
        assert each.data is not None
        assert kernel.opened(name, each.data, each.media)["a"].tolist() == [1, 2]
    odd = found.recorded["odd"]
    assert (odd.kind, odd.value) == ("frame", [{"a": 1}, {"a": "x"}]), "Parquet has no such column"


@pytest.mark.asyncio(loop_scope="module")
async def test_figures_and_axes_of_matplotlib_are_pictures(client: KernelClient) -> None:
    code = """
import matplotlib
matplotlib.use('agg')
from matplotlib import pyplot
figure, axes = pyplot.subplots()
result('figure', figure); result('axes', axes); result('drawing', axes, kind='svg')
pyplot.close(figure)
"""
    found = await run(client, code)
    assert found.errors == []
    assert [(each.kind, each.media) for each in found.recorded.values()] == [
        ("figure", "image/png"),
        ("figure", "image/png"),
        ("figure", "image/svg+xml"),
    ]


# ---- Out of bytes


@pytest.mark.parametrize("media", [kernel.PARQUET, kernel.NPY])
def test_bytes_that_are_not_what_they_say_are_told_by_name(media: str) -> None:
    with pytest.raises(ValueError, match="Result 'x' cannot be read: "):
        kernel.opened("x", b"PAR1 and no more", media)


def test_an_array_that_would_run_code_is_not_opened() -> None:
    import io

    numpy = import_module("numpy")
    file = io.BytesIO()
    numpy.save(file, numpy.array([object], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match=r"Result 'x' cannot be read: .*allow_pickle"):
        kernel.opened("x", file.getvalue(), kernel.NPY)


def test_other_bytes_are_themselves() -> None:
    assert kernel.opened("x", b"%PDF", "application/pdf") == b"%PDF"


def test_without_a_library_it_is_said_which_one_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pandas", "polars", "pyarrow.parquet", "numpy"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match="pandas with pyarrow, or polars, is needed for result 'x'"):
        kernel.opened("x", b"", kernel.PARQUET)
    with pytest.raises(ImportError, match="numpy is needed for result 'x'"):
        kernel.opened("x", b"", kernel.NPY)


# ---- Elsewhere


def test_outside_a_kernel_a_result_is_told_and_never_lost_silently(capsys: pytest.CaptureFixture[str]) -> None:
    kernel.result("score", 0.94)
    assert capsys.readouterr().err == "quire: result 'score' = 0.94 was not recorded, for this is no kernel.\n"


def test_what_a_kernel_starts_with_is_one_expression() -> None:
    """A kernel takes those without IPython's machinery for cells, which is slow with a long text."""
    for frames in (False, True):
        ast.parse(kernel.startup_source(frames=frames), mode="eval")


WITHOUT_QUIRE = f"import sys; sys.path[:] = [each for each in sys.path if each != {str(SOURCE.parent)!r}]"
BEFORE = "names = set(globals())"


@pytest.mark.asyncio(loop_scope="function")
async def test_frames_are_told_beside_their_tables_where_that_is_asked_for() -> None:
    """In live kernels: what a run leaves has nothing in it that only agents read."""
    shows = "import pandas as pd\ndisplay(pd.DataFrame({'a': [1, 2]}), 42)"
    async with started() as (_, client):
        await said(client, kernel.startup_source())
        assert [kernel.FRAME in each["data"] for each in (await run(client, shows)).shown] == [False, False]
        await said(client, kernel.startup_source(frames=True))
        frame, number = (each["data"] for each in (await run(client, shows)).shown)
    assert frame[kernel.FRAME] == {"shape": [2, 1], "columns": [["a", "int64"]], "rows": [["1"], ["2"]]}
    assert "text/html" in frame and list(number) == ["text/plain"]


@pytest.mark.asyncio(loop_scope="function")
async def test_a_kernel_without_quire_gets_what_it_needs_and_nothing_else() -> None:
    """With scrapbook, and in an environment that really has neither: tests/runs/test_results.py."""
    async with started() as (_, client):
        await said(client, WITHOUT_QUIRE)
        assert (await run(client, "import quire")).errors == ["ModuleNotFoundError: No module named 'quire'"]
        await said(client, BEFORE)
        for _ in range(2):
            assert (await run(client, kernel.startup_source())).errors == []
        assert (
            await run(client, "print(len([each for each in globals() if each[0] != '_' and each not in names]))")
        ).printed == "1\n"
        found = await run(
            client, "from quire.kernel import result\nresult('x', (1, 2))\nprint(result.__code__.co_filename)"
        )
        assert (found.recorded["x"].value, found.printed) == ({"$tuple": [1, 2]}, "<quire.kernel>\n")
