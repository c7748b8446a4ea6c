"""SQL cells, run by DuckDB in a real kernel, through `quire run`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from quire.core.errors import BadInput
from quire.kernels import sql_cells

from ..kernels.test_environments import environment
from .test_environment import quire

SALES = """\
# %% tags=["parameters"]
least = 2

# %%
import pandas as pd
import polars as pl
sales = pd.DataFrame({"city": ["Ulm", "Bonn", "Ulm"], "sold": [1, 2, 3]})
cities = pl.DataFrame({"city": ["Ulm", "Bonn"], "people": [128_000, 331_000]})

# %% [sql] name="by-city"
# SELECT city, sum(sold) AS sold FROM sales GROUP BY city ORDER BY city

# %%
print(type(by_city).__module__.split(".")[0], by_city["sold"].sum(), list(by_city.city))

# %% [sql] name="joined"
# SELECT by_city.city, people // sold AS each
# FROM by_city JOIN cities USING (city) WHERE sold >= $least ORDER BY 1

# %%
joined.to_dict("records")

# %% [sql] name="nothing"
# CREATE TABLE kept (a INTEGER);
# INSERT INTO kept VALUES (1), (2)

# %% [sql]
# SELECT count(*) AS rows FROM kept;

# %% [sql]
# CREATE TABLE other AS SELECT 1 AS a

# %% [sql]
# -- nothing but a comment

# %% [sql]
# SELECT sum(9223372036854775807::BIGINT) * 2 AS "a ""b" FROM range(3)

# %% [sql] name="wrong"
# SELECT city FROM sales
# WHERE nowhere = 1

# %%
print("never")
"""


def cells(path: Path) -> list[Any]:
    """The code cells of a file."""
    return [each for each in json.loads(path.read_text())["cells"] if each["cell_type"] == "code"]


def shown(cell: Any, media: str = "text/plain") -> str:
    (output,) = cell["outputs"]
    return "".join(output["data"][media])


def test_frames_are_tables_and_what_a_query_gives_is_a_frame(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text(SALES)
    done = quire("run", "x.py", "x.ipynb", "--json", "-p", "least=3", at=tmp_path)
    assert done.returncode == 1, done.stderr
    _, _, _, by_city, printed, _, joined, inserted, counted, made, empty, large, wrong, never = cells(
        tmp_path / "x.ipynb"
    )
    assert shown(by_city).split() == ["city", "sold", "0", "Bonn", "2", "1", "Ulm", "4"]
    assert "<td>Bonn</td>" in shown(by_city, "text/html")
    assert "".join(by_city["source"]).startswith("%%sql\nSELECT city")
    assert "".join(printed["outputs"][0]["text"]) == "pandas 6 ['Bonn', 'Ulm']\n"
    assert shown(joined) == "[{'city': 'Ulm', 'each': 32000}]"
    assert shown(inserted).split() == ["Count", "0", "2"]
    assert shown(counted).split() == ["rows", "0", "2"]
    assert (made["outputs"], empty["outputs"]) == ([], [])
    assert shown(large).split() == ["a", '"b', "0", "5.534023e+19"]
    (error,) = wrong["outputs"]
    assert (error["ename"], "nowhere" in error["evalue"]) == ("BinderException", True)
    assert not any("_quire" in line for line in error["traceback"]), "the fault is the query's, not ours"
    assert never["outputs"] == []
    failed = json.loads(done.stdout)["failed_cell"]
    assert (failed["ename"], failed["source"]) == ("BinderException", "SELECT city FROM sales\nWHERE nowhere = 1")


@pytest.mark.parametrize(
    ("without", "kind"),
    [
        (("pandas",), "polars"),
        pytest.param(("pandas", "polars"), "duckdb", marks=pytest.mark.slow),
        pytest.param(("pandas", "pyarrow"), "duckdb", marks=pytest.mark.slow),
    ],
)
def test_what_a_query_gives_is_of_the_library_that_is_there(
    tmp_path: Path, without: tuple[str, ...], kind: str
) -> None:
    near = environment(tmp_path / ".venv", ipykernel=False)
    (packages,) = near.glob("lib/python3*/site-packages")
    (theirs,) = Path(sys.prefix).glob("lib/python3*/site-packages")
    for path in theirs.iterdir():
        if not path.name.startswith(without) and not (packages / path.name).exists():
            (packages / path.name).symlink_to(path)
    query = "SELECT range AS n, 'a' AS x FROM range(3) WHERE n >= $least"
    (tmp_path / "x.py").write_text(
        f"# %%\nleast = 1\n\n# %% [sql] name='rows'\n# {query}\n\n# %% [sql]\n# SELECT sum(n) AS total FROM rows\n\n"
        "# %%\nprint(type(rows).__module__.split('.')[0].strip('_'), len(rows))\n"
    )
    done = quire("run", "x.py", "x.ipynb", at=tmp_path)
    assert done.returncode == 0, done.stderr
    _, rows, total, printed = cells(tmp_path / "x.ipynb")
    assert "".join(printed["outputs"][0]["text"]) == f"{kind} 2\n"
    assert "2" in shown(rows)
    assert "<td>2</td>" in shown(rows, "text/html")
    assert "3" in shown(total)


def test_without_duckdb_it_is_refused_before_the_first_cell_with_the_command_that_adds_it(tmp_path: Path) -> None:
    bare = environment(tmp_path / ".venv", ipykernel=False)
    (packages,) = bare.glob("lib/python3*/site-packages")
    # As much of it as it takes to be found: no cell is to run.
    (packages / "ipykernel").mkdir()
    (packages / "ipykernel" / "__init__.py").touch()
    (tmp_path / "x.py").write_text("# %% [sql]\n# SELECT 1\n")
    done = quire("run", "x.py", at=tmp_path)
    assert done.returncode == 2
    assert f"x.py needs duckdb in {bare}/bin/python. Run `" in done.stderr
    assert f"pip install --python {bare}/bin/python duckdb`" in done.stderr


def test_a_kernel_of_another_language_is_refused_before_the_first_cell(tmp_path: Path) -> None:
    kernel = tmp_path / "jupyter" / "kernels" / "bash"
    kernel.mkdir(parents=True)
    argv = ["false", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": argv, "language": "bash", "display_name": "Bash"}))
    (tmp_path / "x.py").write_text("# %%\n1\n\n# %% [sql]\n# SELECT 1\n")
    done = quire("run", "x.py", "-k", "bash", at=tmp_path, JUPYTER_PATH=str(tmp_path / "jupyter"))
    assert done.returncode == 2
    assert "SQL runs in Python kernels" in done.stderr
    assert "speaks bash" in done.stderr


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("by-city", "by_city"),
        ("sales", "sales"),
        ("two words", "two_words"),
        ("2nd", None),
        ("class", None),
        (None, None),
    ],
)
def test_a_cell_is_a_variable_if_its_name_can_be_one(name: str | None, variable: str | None) -> None:
    assert sql_cells.variable(name) == variable


@pytest.mark.parametrize("language", ["R", "bash", ""])
def test_code_is_made_for_python_alone(language: str) -> None:
    with pytest.raises(BadInput, match="SQL runs in Python kernels"):
        sql_cells.as_code("SELECT 1", language)
    with pytest.raises(BadInput, match="cell c2 is SQL"):
        sql_cells.check_language(language, "cell c2")
    sql_cells.check_language("Python", "cell c2")
