"""What agents read of what a real kernel showed: frames of real libraries, walls of text, errors, old executions."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from quire.core import events as e
from quire.core.ids import CellId
from quire.core.text import source_hash
from quire.formats.agent_text.output_summary import FRAME
from quire.formats.agent_text.render import tokens
from quire.verbs.arguments import ExecuteArguments, OutputArguments, ReadArguments, RunArguments
from quire.verbs.read import output, read
from quire.verbs.run import execute, run

from .live_notebook import Served, served

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def nb(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Served]:
    """One notebook with one kernel."""
    async with served(tmp_path_factory.mktemp("nb"), "live") as made:
        yield made


async def ran(nb: Served, id: str, source: str, budget: int = 1000) -> str:
    """What an agent reads of a cell once it ran, within its budget."""
    await nb.add(**{id: source})
    return await again(nb, id, budget)


async def again(nb: Served, id: str, budget: int = 1000) -> str:
    answer = await run(nb.here, RunArguments(notebook="live", cells=(id,), seconds=25))
    while answer.facts["state"] in ("running", "queued"):
        answer = await run(nb.here, RunArguments(notebook="live", cells=(id,), seconds=25))
    text = (await read(nb.here, ReadArguments(notebook="live", cells=(id,), budget=budget))).text
    assert tokens(text) <= budget
    return text


async def pages(nb: Served, of: str) -> str:
    text, at = "", 0
    while True:
        page = await output(nb.here, OutputArguments(notebook="live", of=of, at=at, budget=50_000))
        text += page.text.partition("\n")[2]
        at = int(str(page.facts["end"]))
        if at == page.facts["length"]:
            return text


async def test_huge_frames_are_their_shape_their_types_and_a_few_rows(nb: Served) -> None:
    pandas = "import pandas as pd\npd.DataFrame({'id': range(1_000_000), 'city': 'Basel', 'sold': 1.5, 'x' * 500: [[0] * 999] * 1_000_000})"
    text = await ran(nb, "fr01", pandas)
    assert f"> frame 1,000,000 × 4 [id int64, city str, sold float64, {'x' * 39}… object]" in text
    assert "\n> 0 | Basel | 1.5 | list of 999\n" in text and "999,992 more rows" in text
    polars = "import polars as pl\npl.DataFrame({f'column_{n}': range(100_000) for n in range(200)})"
    text = await ran(nb, "fr02", polars)
    assert "> frame 100,000 × 200 [column_0 Int64, column_1 Int64," in text and "… 170 more]" in text
    shown = (await nb.read()).cells[CellId("fr01")].execution
    assert shown is not None and FRAME in shown.outputs[0].data  # type: ignore[union-attr]


async def test_a_frame_that_cannot_be_told_is_shown_as_before_and_breaks_nothing(nb: Served) -> None:
    """Its table is what the library makes of it."""
    text = await ran(
        nb,
        "fr03",
        "import pandas as pd\nclass Odd(pd.DataFrame):\n    def head(self, n=5):\n        raise ValueError('no')\nOdd({'a': [1, 2]})",
    )
    assert "frame 2 × 1 [a]" in text and "ok" in text


async def test_ten_thousand_carriage_returns_are_a_line(nb: Served) -> None:
    code = "for n in range(10_001): print(f'\\r{n / 100:.2f} %', end='')\nprint()\nprint('done')"
    assert "\n> 100.00 %\n> done\n" in await ran(nb, "cr01", code)


async def test_a_wall_of_warnings_and_one_line_of_five_million_characters(nb: Served) -> None:
    code = "import sys\nfor n in range(3000):\n    print(f'file.py:{n}: FutureWarning: old\\n  f(x)', file=sys.stderr)"
    text = await ran(nb, "wa01", code, 400)
    assert "> [stderr] file.py:0: FutureWarning: old\n>   f(x)\n" in text and "file.py:2999: FutureWarning" in text
    text = await ran(nb, "wa02", "print('a' * 5_000_000 + ' the end')", 300)
    (handle,) = re.findall(r'output\(of="([^"]+)"\)', text)
    assert " the end" in text and await pages(nb, handle) == "a" * 5_000_000 + " the end\n"


async def test_a_value_of_a_million_characters_and_one_nested_deeply(nb: Served) -> None:
    text = await ran(nb, "va01", "from quire.kernel import result\nresult('big', 'v' * 1_000_000)", 300)
    (handle,) = re.findall(r'output\(of="([^"]+)"\)', text)
    assert "v" * 1_000_000 in await pages(nb, handle)
    deep = "from IPython.display import JSON\nx = 'bottom'\nfor _ in range(300): x = {'in': [x]}\n"
    deep += "JSON({'deep': x, 'long': list(range(100_000))})"
    text = await ran(nb, "va02", deep, 300)
    assert not any("bottom" in line for line in text.split("\n") if line.startswith("> "))
    (handle,) = re.findall(r'output\(of="([^"]+json)"\)', text)
    assert "bottom" in await pages(nb, handle)


async def test_html_alone_is_its_text_and_bytes_are_named(nb: Served) -> None:
    code = "from IPython.display import HTML\nHTML('<script>x()</script><p>Seen &amp; read</p>')"
    text = await ran(nb, "ht01", code)
    assert next(line for line in text.split("\n") if line.startswith("> ")) == "> Seen & read"
    code = "from base64 import b64encode\ndisplay({'application/pdf': b64encode(bytes(range(256)) * 100).decode()}, raw=True)"
    text = await ran(nb, "ht02", code)
    assert re.search(r'> \[application/pdf 26 kB: output\(of="ht02\.0@\d+:application/pdf"\)\]', text)


async def test_a_recursion_is_told_in_a_few_lines_with_its_cell_and_its_last_line(nb: Served) -> None:
    text = await ran(nb, "re01", "def f(n):\n    return 1 / n + f(n - 1)\nf(200)", 300)
    assert "re01-cell error" in text and "! ZeroDivisionError: division by zero" in text and "! > 3 f(200)" in text
    assert "re01:2 f: return 1 / n + f(n - 1) (×" in text


async def test_frames_of_libraries_are_left_out_of_an_error(nb: Served) -> None:
    text = await ran(nb, "re02", "import json\ndef load(text):\n    return json.loads(text)\nload('{')")
    assert "! JSONDecodeError: Expecting" in text and "!   re02:3 load: return json.loads(text)" in text
    assert re.search(r'! \[\d library frames left out: output\(of="re02\.0@\d+"\)\]', text)


async def test_a_missing_column_names_those_of_the_frame_above(nb: Served) -> None:
    text = await ran(nb, "re03", "import pandas as pd\nframe = pd.DataFrame({'city': ['Ulm'], 'sold': [1]})\nframe")
    assert "frame 1 × 2" in text
    assert "hint: the frame in re03 has the columns city, sold" in await ran(nb, "re04", "frame['citi']")


async def test_a_handle_gives_what_it_named_also_after_the_cell_ran_again(nb: Served) -> None:
    """Page it, do not run again: what was left out of an answer stays what it was."""
    text = await ran(
        nb, "ag01", "import random\nprint('\\n'.join(f'{n} {random.random()}x' * 9 for n in range(9000)))", 200
    )
    (handle,) = re.findall(r'output\(of="([^"]+)"\)', text)
    before = await pages(nb, handle)
    await again(nb, "ag01", 200)
    source = (await nb.read()).cells[CellId("ag01")].source
    await nb.say(e.SourceEdited(cell=CellId("ag01"), text="print(1)", base_hash=source_hash(source)))
    assert "> 1\n" in await again(nb, "ag01", 200)
    assert await pages(nb, handle) == before and await pages(nb, "ag01") == "1\n"


async def test_what_code_without_a_cell_showed_is_behind_a_handle_too(nb: Served) -> None:
    """Also once so much else ran that the notebook no longer knows of it: the log does."""
    wanted = ExecuteArguments(
        notebook="live", code="print('\\n'.join(f'{n} {n * n}x' for n in range(9000)))", seconds=25, budget=200
    )
    answer = await execute(nb.here, wanted)
    (handle,) = re.findall(r'output\(of="([^"]+)"\)', answer.text)
    for _ in range(12):
        assert (await execute(nb.here, ExecuteArguments(notebook="live", code="1", seconds=25))).facts[
            "state"
        ] == "done"
    assert handle.partition(".")[0] not in {id[:4] for id in (await nb.read()).cells}
    assert await pages(nb, handle) == "".join(f"{n} {n * n}x\n" for n in range(9000))
