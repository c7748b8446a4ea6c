"""A page shows Markdown as the HTML export does."""

from __future__ import annotations

import json
import re
import subprocess

from quire.core.values import Json
from quire.formats.html.markdown import Headings, render

from .node import NODE, WEB, needs_packages

pytestmark = needs_packages

ATTACHMENTS: dict[str, Json] = {
    "plot.png": {"image/png": "iVBORw0KGgo="},
    "draw ing.svg": {"image/svg+xml": "<svg xmlns='http://www.w3.org/2000/svg'/>"},
}
SAMPLES = [
    "# One\n\n## Two *three*\n\n## Two *three*\n\nSet\next\n===\n",
    "a *b* **c** ***d*** _e_ __f__ ~~g~~ `h` ``i ` j``",
    "- one\n- two\n  - nested\n\n    paragraph\n\n1. first\n2. second\n",
    "3) three\n4) four\n\n* a\n\n* loose",
    "> quoted\n> > twice\n\ncontinued\nlazily",
    "| a | b |\n|:--|--:|\n| x | `|` |\n| y |",
    "| not a table |\nno line",
    "```python\ndef f(x):\n    return 'a' < x\n```",
    "~~~\nplain <b>\n~~~\n\n    indented & code\n",
    "```sql title=x\nselect 1\n```",
    "[a](https://example.org 'title') [b](mailto:a@example.org) [c](#One) <https://example.org/?a=b&c=d>",
    "[bad](javascript:alert(1)) [data](data:text/html,x) [rel](other.ipynb) [proto](//example.org)",
    '[ref][1] and [1]\n\n[1]: https://example.org/ref "a title"\n',
    "![alt *text*](attachment:plot.png) ![two](attachment:draw%20ing.svg) ![none](attachment:none.png)",
    "![far](https://example.org/p.png) ![](https://example.org/q.png) ![file](plot.png)",
    "![inline](data:image/png;base64,iVBORw0KGgo=) ![bad](data:text/html;base64,AAAA)",
    "Inline $a_1 * b_2 * c$ and $$x^2$$ and \\$5 and $5 or $6, $ not $ math, $x$5",
    "$$\n\\frac{1}{2} < x\n$$\n\ntext\n\n$$a$$ after\n",
    "\\begin{align}\na &= b \\\\\nc &= d\n\\end{align}\n",
    "text\n$$\ninterrupts\n$$\n- list\n\n  $$in list$$\n",
    "> $$\n> quoted\n> $$\n",
    "$$ never closed\n\nmore $x$ \\begin{x} too",
    "`$not math$` and \\\\(neither\\\\) $a\\$b$",
    "line one  \nline two\\\nline three\nsoft",
    "***\n---\n___\n",
    "&amp; &copy; &#35; &#x1F600; \\* \\# \u00a0nbsp",
    "\u00fcml\u00e4ut \u65e5\u672c\u8a9e \U0001f600 e\u0301 \u05d0\u05d1",
    "# $x$ in a heading and `code`\n\n# \n\n#nospace\n",
    "1986\\. A great year\n\n- [ ] task\n- [x] done\n",
    "a\x00b\x07c\ud83d d",
    'https://example.org is no link; "quotes" -- dashes... (c)',
    "* a\n+ b\n- c\n\n\ttabbed\n",
]


def in_typescript(sources: list[str]) -> list[str]:
    """What the web app makes of each text."""
    lines = "".join(f"{json.dumps({'source': source, 'attachments': ATTACHMENTS})}\n" for source in sources)
    tool = [NODE, WEB / "tools" / "render_markdown.ts"]
    done = subprocess.run(tool, input=lines, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def in_python(source: str) -> str:
    """The same in the export, whose code is coloured and whose formulas all look alike."""
    html = render(source, ATTACHMENTS, Headings())
    return re.sub(
        r"(<pre><code[^>]*>)(.*?)(</code></pre>)",
        lambda found: found[1] + _bare(found[2]) + found[3],
        html,
        flags=re.DOTALL,
    )


def _bare(code: str) -> str:
    return re.sub(r"</?span[^>]*>", "", code)


def test_thirty_texts_read_alike_in_the_page_and_in_the_export() -> None:
    for source, html in zip(SAMPLES, in_typescript(SAMPLES), strict=True):
        expected = in_python(source).replace("&#x27;", "'")
        assert html.replace(' display"', '"').replace("&#x27;", "'") == expected, source
