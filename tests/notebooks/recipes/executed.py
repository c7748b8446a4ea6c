"""Notebooks whose outputs come from a real Python kernel."""

from __future__ import annotations

from collections.abc import Iterator

from .parts import Fields, Recipe, code, markdown, notebook, raw

PICTURE = '''\
import struct
import zlib


def png(width, height, pixel):
    """A PNG, from a function that gives the colour at (x, y)."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\\0" + b"".join(bytes(pixel(x, y)) for x in range(width)) for y in range(height))
    header = struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)
    return b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
'''


def recipes() -> Iterator[Recipe]:
    """Every notebook that a kernel runs."""
    yield from (plots(), latex(), magics(), errors(), streams(), displays(), tables(), json_outputs(), media())
    yield from (javascript(), unicode(), line_separators(), parameters(), papermill(), scrapbook(), script(), sql())
    yield from (attachments(), raw_cells(), simulation(), markers())


def plots() -> Recipe:
    return Recipe(
        "plots",
        notebook(
            markdown("# Plots\n\nDrawn by hand: the *libraries* differ, what lands in a notebook does not."),
            code(PICTURE),
            code(
                "from IPython.display import Image, display\n"
                "\n"
                "def wave(x, y):\n"
                "    near = abs(60 - 45 * __import__('math').sin(x / 19) - y)\n"
                "    return (31, 119, 180) if near < 2 else (255, 255, 255)\n"
                "\n"
                "Image(png(240, 120, wave))"
            ),
            code(
                "class Figure:\n"
                '    """Shows itself as matplotlib\'s figures do: a picture, and a line of text."""\n'
                "\n"
                "    def __repr__(self):\n"
                "        return '<Figure size 640x480 with 1 Axes>'\n"
                "\n"
                "    def _repr_png_(self):\n"
                "        data = png(64, 48, lambda x, y: (4 * x % 256, 5 * y % 256, 120))\n"
                "        return data, {'width': 640, 'height': 480}\n"
                "\n"
                "display(Figure())\n"
                "display(Figure())"
            ),
            code(
                "from IPython.display import SVG\n"
                "\n"
                "points = ' '.join(f'{10 * n},{90 - n * n}' for n in range(10))\n"
                'SVG(f\'\'\'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100" width="200" height="200">\n'
                '  <rect width="100" height="100" fill="#fafafa"/>\n'
                '  <polyline points="{points}" fill="none" stroke="#d62728" stroke-width="2"/>\n'
                "</svg>''')"
            ),
        ),
        run=True,
    )


def latex() -> Recipe:
    return Recipe(
        "latex",
        notebook(
            markdown(
                "# Formulas\n\nInline $e^{i\\pi} + 1 = 0$ and \\(a_1 * b_1 * c\\), money: 5\\$ and $5 apples.\n\n"
                "$$\n\\int_{-\\infty}^{\\infty} e^{-x^2}\\,dx = \\sqrt{\\pi}\n$$\n\n"
                "\\begin{align}\n\\dot{x} &= \\sigma(y - x) \\\\\n\\dot{y} &= \\rho x - y - xz\n\\end{align}\n\n"
                "| symbol | meaning |\n|:--|--:|\n| $\\alpha_{<0}$ | angle |\n| `$x$` | a dollar |"
            ),
            code(
                "from IPython.display import Latex, Math, display\n\n"
                "display(Math(r'F(k) = \\int_{-\\infty}^{\\infty} f(x) e^{2\\pi i k} dx'))\n"
                "Latex(r'\\begin{eqnarray} \\nabla \\cdot \\vec{E} & = 4 \\pi \\rho \\end{eqnarray}')"
            ),
            code(
                "class Symbol:\n"
                "    def _repr_latex_(self):\n"
                "        return r'$\\displaystyle \\frac{x^{2}}{2}$'\n\n"
                "    def __repr__(self):\n"
                "        return 'x**2/2'\n\n"
                "Symbol()"
            ),
        ),
        run=True,
    )


def magics() -> Recipe:
    return Recipe(
        "magics",
        notebook(
            markdown("# Magics\n\n%% and % at the start of a line are only text here.\n\n!so is this"),
            code("%precision 3\n22 / 7"),
            code('%env QUIRE_CORPUS=yes\n!echo "$QUIRE_CORPUS" and $((6 * 7))'),
            code("files = !printf 'a.csv\\nb.csv\\n'\nfiles.n"),
            code('%%bash\nfor word in one two; do\n    echo "# %% $word"\ndone'),
            code("%%capture seen\nprint('kept for later')"),
            code("seen.stdout"),
            code("%%html\n<b>bold</b> &amp; <i>italic</i>"),
            code("%%javascript\nconsole.log('from a magic')"),
            code("%%writefile hello.txt\nfirst line\n\n  indented, with trailing blanks  \n"),
            code("cat = 3\ncat"),
            code("if True:\n    %precision 2\n    !echo indented\nresult = %precision\nresult"),
            code("# %matplotlib inline\n# !commented by the author\nprint('# %% in a string')"),
            code("%alias_magic --line px precision\n%px 5\n1 / 3"),
            code("%%latex\n\\frac{1}{3}"),
            code("!echo a \\\n  && echo b"),
            code("import math\nmath.pi?"),
        ),
        run=True,
    )


def errors() -> Recipe:
    return Recipe(
        "errors",
        notebook(
            markdown("# What goes wrong"),
            code("def ratio(a, b):\n    return a / b\n\n\ndef report(rows):\n    return [ratio(*row) for row in rows]"),
            code("print('before')\nreport([(1, 2), (3, 0)])"),
            code(
                "try:\n    {}['missing']\nexcept KeyError as error:\n    raise ValueError('no such ключ \\u2028 <script>') from error"
            ),
            code("for x in range(3)\n    print(x)"),
            code(
                "class Rude(Exception):\n    def __str__(self):\n        return 'line one\\nline two \\x1b[31mred\\x1b[0m'\n\nraise Rude"
            ),
            code("import sys\nprint('to stderr', file=sys.stderr)\nsys.exit(3)"),
            code("raise ExceptionGroup('several', [TypeError('one'), OSError(2, 'two')])"),
            code("1 / 0", tags=["raises-exception"]),
            code("'still alive'"),
        ),
        run=True,
    )


def streams() -> Recipe:
    return Recipe(
        "streams",
        notebook(
            code("import sys\n\nprint('out')\nprint('err', file=sys.stderr)\nprint('out again')"),
            code(
                "for done in range(0, 101, 20):\n"
                "    print(f'\\r{done:3d}%|{\"█\" * (done // 10):<10}| {done}/100', end='', file=sys.stderr, flush=True)\n"
                "print(file=sys.stderr)"
            ),
            code("print('abc\\b\\bXY')\nprint('first\\rSECOND')\nprint('tab\\there')"),
            code(
                "print('\\x1b[1;31mbold red\\x1b[0m \\x1b[4munderlined\\x1b[24m \\x1b[38;5;208morange\\x1b[39m '\n"
                "      '\\x1b[48;2;20;60;120m\\x1b[97mtruecolor\\x1b[0m \\x1b[7minverse\\x1b[27m \\x1b[2mfaint\\x1b[m')\n"
                "print('\\x1b]8;;https://example.org\\x1b\\\\a link\\x1b]8;;\\x1b\\\\ and \\x1b[2K\\x1b[1Aa cursor')"
            ),
            code(
                "import warnings\n\nwarnings.simplefilter('always')\nwarnings.warn_explicit('old API', DeprecationWarning, 'lib.py', 7)"
            ),
            code("print('no newline at the end', end='')"),
            code("print('<b>not bold</b> &amp; \"quoted\"')"),
            code("print('\\n' * 3)"),
            code("print(*range(300), sep='\\n')", scrolled=True),
        ),
        run=True,
    )


def displays() -> Recipe:
    return Recipe(
        "displays",
        notebook(
            code(
                "from IPython.display import HTML, Markdown, clear_output, display\n\nhandle = display('waiting', display_id='state')"
            ),
            code("handle.update(Markdown('**done**'))"),
            code("for step in range(3):\n    clear_output(wait=True)\n    display(f'step {step}')"),
            code(
                "display({'text/plain': 'plain', 'text/markdown': '- *a*\\n- `b`', 'text/html': '<ul><li>a</li></ul>'}, raw=True)"
            ),
            code("display('a', metadata={'text/plain': {'isolated': True}})\n'b'"),
            code("_ = HTML('<p>unseen</p>')"),
            code("display(HTML('<p>seen</p>'), Markdown('$x$'))"),
            code("None"),
            code("{'a': [1, 2], 'b': {'c': None}}"),
        ),
        run=True,
    )


def tables() -> Recipe:
    return Recipe(
        "tables",
        notebook(
            markdown("# Tables\n\nAs pandas shows a frame: HTML for the eye, text for the rest."),
            code(
                "from html import escape\n\n\n"
                "class Frame:\n"
                '    """Rows with names, shown as pandas shows them."""\n\n'
                "    def __init__(self, columns, rows):\n"
                "        self.columns, self.rows = columns, rows\n\n"
                "    def __repr__(self):\n"
                "        lines = [('', *self.columns), *((n, *row) for n, row in enumerate(self.rows))]\n"
                "        return '\\n'.join('  '.join(f'{value!s:>8}' for value in line) for line in lines)\n\n"
                "    def _repr_html_(self):\n"
                "        head = ''.join(f'      <th>{escape(str(name))}</th>\\n' for name in self.columns)\n"
                "        body = ''.join(\n"
                "            f'    <tr>\\n      <th>{n}</th>\\n'\n"
                "            + ''.join(f'      <td>{escape(str(v))}</td>\\n' for v in row)\n"
                "            + '    </tr>\\n'\n"
                "            for n, row in enumerate(self.rows)\n"
                "        )\n"
                "        return (\n"
                "            '<div>\\n<style scoped>\\n    .dataframe tbody tr th {\\n        vertical-align: top;\\n    }\\n</style>\\n'\n"
                '            \'<table border="1" class="dataframe">\\n  <thead>\\n'
                '    <tr style="text-align: right;">\\n      <th></th>\\n\'\n'
                "            f'{head}    </tr>\\n  </thead>\\n  <tbody>\\n{body}  </tbody>\\n</table>\\n</div>'\n"
                "        )"
            ),
            code(
                "sales = Frame(\n    ['city', 'sold', 'share'],\n    [('Bern', 12, 0.25), ('Zürich <HB>', 31, 0.65), "
                "('Genève & Co', 5, float('nan'))],\n)\nsales"
            ),
            code("Frame([f'column {n}' for n in range(12)], [[n * m for n in range(12)] for m in range(25)])"),
        ),
        run=True,
    )


def json_outputs() -> Recipe:
    return Recipe(
        "json-outputs",
        notebook(
            code(
                "from IPython.display import JSON, GeoJSON, display\n\n"
                "JSON({'name': 'Ada', 'born': 1815, 'tags': ['math', '<b>'], 'none': None})"
            ),
            code("display({'application/json': [1, 2.5, 'text', {'deep': [[[]]]}], 'text/plain': 'a list'}, raw=True)"),
            code("display({'application/json': 'only a string', 'text/plain': 'str'}, raw=True)"),
            code(
                "GeoJSON({'type': 'Feature', 'geometry': {'type': 'Point', 'coordinates': [7.44, 46.95]}, 'properties': {}})"
            ),
            code(
                "chart = {'$schema': 'https://vega.github.io/schema/vega-lite/v5.json', 'mark': 'bar',\n"
                "         'data': {'values': [{'a': 'A', 'b': 28}, {'a': 'B', 'b': 55}]},\n"
                "         'encoding': {'x': {'field': 'a'}, 'y': {'field': 'b', 'type': 'quantitative'}}}\n"
                "display({'application/vnd.vegalite.v5+json': chart, 'text/plain': '<VegaLite 5 object>'}, raw=True)"
            ),
            code(
                "figure = {'data': [{'type': 'scatter', 'x': [1, 2, 3], 'y': [2, 1, 3]}], 'layout': {'title': {'text': 'Lines'}}}\n"
                "display({'application/vnd.plotly.v1+json': figure, 'text/html': '<div id=\"p\"></div><script>draw()</script>'}, raw=True)"
            ),
        ),
        run=True,
    )


def media() -> Recipe:
    return Recipe(
        "media",
        notebook(
            markdown("# Sound and pictures"),
            code(
                "import io\nimport math\nimport wave\nfrom IPython.display import Audio, Image, Video, display\n\n"
                "with io.BytesIO() as file:\n"
                "    with wave.open(file, 'wb') as sound:\n"
                "        sound.setparams((1, 1, 8000, 0, 'NONE', ''))\n"
                "        sound.writeframes(bytes(int(127 + 90 * math.sin(n / 3)) for n in range(800)))\n"
                "    data = file.getvalue()\n"
                "Audio(data=data)"
            ),
            code("Video(data=b'\\x00\\x00\\x00\\x18ftypmp42', embed=True, mimetype='video/mp4')"),
            code(
                "gif = bytes.fromhex('47494638396101000100800000ff0000ffffff2c00000000010001000002024401003b')\n"
                "Image(data=gif, format='gif', width=40, height=40)"
            ),
            code(
                "display({'image/jpeg': '/9j/4AAQSkZJRgABAQEAYABgAAD/2wBDAP//2Q==', 'text/plain': '<a broken jpeg>'}, raw=True)"
            ),
            code("display({'application/pdf': 'JVBERi0xLjQKJSVFT0YK', 'text/plain': '<a page>'}, raw=True)"),
            code("display({'application/x-nobody-knows': 'abc'}, raw=True)"),
        ),
        run=True,
    )


def javascript() -> Recipe:
    return Recipe(
        "javascript",
        notebook(
            code(
                "from IPython.display import HTML, IFrame, Javascript, display\n\nJavascript('element.append(\"ran\")')"
            ),
            code(
                'HTML(\'<div id="x">before</div>\\n<script>\\n  document.getElementById("x").textContent = "after"\\n</script>\')'
            ),
            code("IFrame('https://example.org/', width=300, height=120)"),
            code(
                "display({'application/javascript': 'require.config({})\\nalert(1)', 'text/html': '<p>a plot</p>'}, raw=True)"
            ),
        ),
        run=True,
    )


def unicode() -> Recipe:
    return Recipe(
        "unicode",
        notebook(
            markdown(
                "# Grüße, 世界 🌍\n\n"
                "Family 👨‍👩‍👧‍👦, flags 🇨🇭🏴‍☠️, skin 👍🏽, math 𝔘𝔫𝔦𝔠𝔬𝔡𝔢, combining e\u0301 ≠ \u00e9, Z̸̡͓a̵l̷g̶o̴.\n\n"
                "עברית ו-English יחד, \u202bexplicit\u202c, العربية."
            ),
            code("größe, π, имя, 変数 = 1.8, 3.14, 'Ада', '値'\nf'{größe} {π} {имя} {変数}'"),
            code(
                "print('a\\u0301 \\U0001f600 \\u200b|\\u00a0|\\ufeff|')\n"
                "print('שלום, \\u202eevil\\u202c')\n'\\ud83d\\ude00'[:0] or '\\U0010ffff'"
            ),
            code("print('\\ttabs\\tand ░▒▓█ ┌──┐')"),
            code("{'🔑': '🔒', 'ключ': 'значение', 'e\\u0301': '\\u00e9'}"),
        ),
        run=True,
    )


def line_separators() -> Recipe:
    return Recipe(
        "line-separators",
        notebook(
            markdown(
                "One\u2028two\u2029three\x0bfour\x0cfive\x85six\n\nWhat `str.splitlines` takes for the end of a line."
            ),
            code("text = 'a\u2028b\x85c'\nprint(text)\nlen(text)"),
            code("page = 1\n\x0c\npage += 1\nprint('one\\x0ctwo\\x1cthree\\x1e')"),
        ),
        run=True,
    )


PARAMETERS = """\
# What the report is about.
from datetime import date
from pathlib import Path

month: str = "2026-10"  # as YYYY-MM
top: int = 5  # how many cities
# Shares below this
# are left out.
threshold: float = 0.05
cities: list[str] = ["Bern", "Zürich"]
dry_run = False
since: date = date(2026, 1, 1)
folder = Path("data") / "in"
note: str | None = None
options = {"deep": {"list": [1, 2.5, None]}, "t": (1, 2)}
"""


def parameters() -> Recipe:
    return Recipe(
        "parameters",
        notebook(
            markdown("# A report with parameters"),
            code(PARAMETERS, tags=["parameters"]),
            code("f'{month}: top {top} of {len(cities)}, {threshold:.0%}, {since:%d.%m.%Y}, {note!r}'"),
        ),
        run=True,
    )


def papermill() -> Recipe:
    def executed(made: Fields) -> None:
        times = {
            "start_time": "2026-10-01T06:00:00.000000",
            "end_time": "2026-10-01T06:00:00.125000",
            "duration": 0.125,
        }
        for cell in made["cells"]:
            done = "completed" if cell["cell_type"] == "code" else None
            cell["metadata"]["papermill"] = times | {"exception": False, "status": done}
        made["metadata"]["papermill"] = times | {
            "default_parameters": {},
            "environment_variables": {},
            "exception": None,
            "input_path": "sales.ipynb",
            "output_path": "runs/october.ipynb",
            "parameters": {"month": "2026-10", "top": 2},
            "version": "2.7.0",
        }

    return Recipe(
        "papermill",
        notebook(
            markdown("# Sales", tags=[]),
            code('month = "2026-09"\ntop = 10', tags=["parameters"]),
            code('# Parameters\nmonth = "2026-10"\ntop = 2\n', tags=["injected-parameters"]),
            code("for city in ['Bern', 'Basel', 'Thun'][:top]:\n    print(month, city)", tags=[]),
        ),
        run=True,
        after=executed,
    )


def scrapbook() -> Recipe:
    return Recipe(
        "scrapbook",
        notebook(
            code(
                "from IPython.display import display\n\n\n"
                "def glue(name, data, encoder='json'):\n"
                '    """What scrapbook writes, without scrapbook."""\n'
                "    media = f'application/scrapbook.scrap.{encoder}+json'\n"
                "    scrap = {'name': name, 'data': data, 'encoder': encoder, 'version': 1}\n"
                "    display({media: scrap}, metadata={'scrapbook': {'name': name, 'data': True, 'display': False}}, raw=True)"
            ),
            code("glue('health_score', 0.94)\nglue('cities', ['Bern', 'Basel'])\nglue('note', 'fine', encoder='text')"),
            code(
                "display({'text/html': '<b>chart</b>'}, raw=True,\n"
                "        metadata={'scrapbook': {'name': 'chart', 'data': False, 'display': True}})"
            ),
            code("display({'application/papermill.record+json': {'rows': 3}}, raw=True)"),
        ),
        run=True,
    )


def script() -> Recipe:
    return Recipe(
        "script",
        notebook(
            code(
                "# /// script\n"
                '# requires-python = ">=3.11"\n'
                "# dependencies = [\n"
                '#   "rich",\n'
                "#\n"
                '#   "httpx<1",  # %% not a cell\n'
                "# ]\n"
                "# [tool.quire]\n"
                '# note = "kept as it is"\n'
                "# ///\n"
                "\n"
                "import sys"
            ),
            markdown("A notebook that says what it needs."),
            code("sys.version_info >= (3, 11)"),
        ),
        run=True,
    )


def sql() -> Recipe:
    load = (
        "import sqlite3\n"
        "from IPython import get_ipython\n"
        "from IPython.display import Markdown\n\n"
        "db = sqlite3.connect(':memory:')\n\n\n"
        "def sql(line, cell=None):\n"
        "    answer = db.execute(cell or line)\n"
        "    names = [column[0] for column in answer.description or ()]\n"
        "    rows = [names, ['---'] * len(names), *answer] if names else []\n"
        "    return Markdown('\\n'.join('|'.join(map(str, ('', *row, ''))) for row in rows)) if rows else None\n\n\n"
        "get_ipython().register_magic_function(sql, 'line_cell')"
    )
    ours: Fields = {"quire": {"kind": "sql"}}
    return Recipe(
        "sql",
        notebook(
            markdown("# Questions\n\n```sql\n-- only prose\nSELECT 1\n```"),
            code(load),
            code("%%sql\nCREATE TABLE sales (city TEXT, sold INT)", **ours),
            code("%%sql\nINSERT INTO sales VALUES\n    ('Bern', 12),\n    ('Zürich', 31)", **ours),
            code(
                "%%sql\n-- by city; 100% of them\nSELECT city, sold\nFROM sales\n\nWHERE city <> '# %%'\nORDER BY sold DESC",
                tags=["report"],
                name="by-city",
                **ours,
            ),
            code("%%sql\nSELECT count(*) AS plain_cell FROM sales"),
            code("%%sql\n", tags=["skip-execution"]),
            code("%sql SELECT 1"),
        ),
        run=True,
    )


def attachments() -> Recipe:
    dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    return Recipe(
        "attachments",
        notebook(
            markdown(
                "Pasted: ![dot](attachment:dot.png) and ![dot]( attachment:image%201.png 'title')",
                attachments={
                    "dot.png": {"image/png": dot},
                    "image 1.png": {"image/png": dot},
                },
            ),
            markdown(
                "![drawn](attachment:a.svg)",
                attachments={
                    "a.svg": {"image/svg+xml": '<svg xmlns="http://www.w3.org/2000/svg">\n<circle r="1"/>\n</svg>'}
                },
            ),
            markdown("![gone](attachment:missing.png)"),
            code("'code below'"),
        ),
        run=True,
    )


def raw_cells() -> Recipe:
    return Recipe(
        "raw-cells",
        notebook(
            raw('---\ntitle: "A report"\nauthor: Ada\nformat:\n  html: default\n---', raw_mimetype="text/plain"),
            raw(".. note::\n\n   reStructuredText, as nbsphinx wants it.", raw_mimetype="text/restructuredtext"),
            raw("\\newpage", format="text/latex"),
            raw("<hr onclick='alert(1)'>", raw_mimetype="text/html", tags=["page-break"]),
            raw(""),
            code("'after raw'"),
            raw("# %%\n# a line that looks like a cell\n```python\nso does this\n```"),
        ),
        run=True,
    )


def simulation() -> Recipe:
    return Recipe(
        "simulation",
        notebook(
            markdown("# A random walk\n\nHow far does a walker get?"),
            markdown("## The walk\n\n1. start at 0\n2. step left or right\n\n> After $n$ steps: about $\\sqrt{n}$."),
            code("import random\nfrom statistics import mean\n\nrandom.seed(1)"),
            code(
                "def walk(steps: int) -> list[int]:\n"
                '    """Positions after each step."""\n'
                "    place, seen = 0, []\n"
                "    for _ in range(steps):\n"
                "        place += random.choice((-1, 1))\n"
                "        seen.append(place)\n"
                "    return seen\n"
                "\n\n"
                "walk(10)"
            ),
            markdown("## Many walkers"),
            code("far = [abs(walk(400)[-1]) for _ in range(200)]\nround(mean(far), 2)"),
            code(
                "for low in range(0, 50, 10):\n    print(f'{low:>3} {\"#\" * sum(low <= x < low + 10 for x in far)}')"
            ),
            markdown("---\n\n*Most stay close.*\n\n- [x] done\n- [ ] explain\n\nTerm\n: not a list\n"),
        ),
        run=True,
    )


def markers() -> Recipe:
    """What nbval, nbstripout and nbclient look for."""
    return Recipe(
        "markers",
        notebook(
            code("# NBVAL_IGNORE_OUTPUT\nimport platform\n\nplatform.python_implementation()"),
            code("# NBVAL_CHECK_OUTPUT\n6 * 7", tags=["nbval-check-output"]),
            code("1 / 0", tags=["nbval-raises-exception", "raises-exception"]),
            code("'kept by a tag'", tags=["keep_output"]),
            code("'kept by metadata'", keep_output=True),
            code("'an init cell'", init_cell=True),
            code("'dropped'", tags=["a tag with blanks", 'and "quotes"', "ümläut", "key=value"]),
            code(
                "'folded'",
                collapsed=True,
                scrolled="auto",
                ExecuteTime={"start_time": "2020-01-01T00:00:00", "end_time": "2020-01-01T00:00:01"},
            ),
            code("'not run'", tags=["skip-execution"]),
            code("'frozen'", deletable=False, editable=False),
        ),
        run=True,
    )
