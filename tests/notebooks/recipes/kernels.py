"""Notebooks of other kernels and other tools: what they write, written by hand in its true shape."""

from __future__ import annotations

from collections.abc import Iterator

from .parts import (
    Fields,
    Recipe,
    Style,
    code,
    display,
    error,
    keys,
    language,
    markdown,
    notebook,
    png,
    raw,
    result,
    stream,
    with_id,
)


def recipes() -> Iterator[Recipe]:
    """R, Julia, bash and others, then the front ends."""
    yield from (r(), julia(), bash(), scala(), typescript(), octave(), widgets(), colab(), vscode(), slides())
    yield from (hidden(), jupytext_paired(), nbgrader(), conflicted())


def r() -> Recipe:
    kernel = {"display_name": "R", "language": "R", "name": "ir"}
    info = language("R", ".r", "text/x-r-source", "4.4.1", codemirror_mode="r", pygments_lexer="r")
    table = {
        "text/html": (
            '<table class="dataframe">\n<caption>A data.frame: 2 × 2</caption>\n<thead>\n'
            "\t<tr><th></th><th scope=col>mpg</th><th scope=col>cyl</th></tr>\n\t<tr><th></th><th scope=col>&lt;dbl&gt;</th>"
            "<th scope=col>&lt;dbl&gt;</th></tr>\n</thead>\n<tbody>\n"
            "\t<tr><th scope=row>Mazda RX4</th><td>21.0</td><td>6</td></tr>\n"
            "\t<tr><th scope=row>Datsun 710</th><td>22.8</td><td>4</td></tr>\n</tbody>\n</table>\n"
        ),
        "text/latex": (
            "A data.frame: 2 × 2\n\\begin{tabular}{r|ll}\n  & mpg & cyl\\\\\n  & <dbl> & <dbl>\\\\\n\\hline\n"
            "\tMazda RX4 & 21.0 & 6\\\\\n\tDatsun 710 & 22.8 & 4\\\\\n\\end{tabular}\n"
        ),
        "text/markdown": (
            "\nA data.frame: 2 × 2\n\n| <!--/--> | mpg &lt;dbl&gt; | cyl &lt;dbl&gt; |\n|---|---|---|\n"
            "| Mazda RX4 | 21.0 | 6 |\n| Datsun 710 | 22.8 | 4 |\n\n"
        ),
        "text/plain": "           mpg  cyl\nMazda RX4  21.0 6  \nDatsun 710 22.8 4  ",
    }
    values = {
        "text/html": "<style>\n.list-inline {list-style: none; margin:0; padding: 0}\n</style>\n"
        "<ol class=list-inline><li>1</li><li>4</li><li>9</li></ol>\n",
        "text/latex": "\\begin{enumerate*}\n\\item 1\n\\item 4\n\\item 9\n\\end{enumerate*}\n",
        "text/markdown": "1. 1\n2. 4\n3. 9\n\n\n",
        "text/plain": "[1] 1 4 9",
    }
    picture = {
        "image/png": png(60, 60, lambda x, y: (30, 30, 30) if abs(x - y) < 2 else (255, 255, 255)),
        "text/plain": "plot without title",
    }
    return Recipe(
        "r",
        notebook(
            markdown("# Cars in R\n\nThe formula `mpg ~ wt`."),
            code("threshold <- 20L\nname = 'mtcars' # the data\nfast <- TRUE", count=1, tags=["parameters"]),
            code("squares <- (1:3)^2\nsquares", display(values), count=2),
            code("head(mtcars[mtcars$mpg > threshold, 1:2], 2)", display(table), count=3),
            code(
                "plot(mtcars$wt, mtcars$mpg)",
                display(picture, **keys({"image/png": {"height": 420, "width": 420}})),
                count=4,
                **keys({"repr.plot.width": 7}),
            ),
            code(
                "message('to stderr')\ncat('to stdout\\n')",
                stream("to stderr\n\n", "stderr"),
                stream("to stdout\n"),
                count=5,
            ),
            code(
                "stop('no such column')",
                error(
                    "ERROR",
                    "Error: no such column\n",
                    "Error: no such column\nTraceback:\n",
                    '1. stop("no such column")',
                ),
                count=6,
            ),
            kernel=kernel,
            minor=4,
            language_info=info,
        ),
    )


def julia() -> Recipe:
    kernel = {"display_name": "Julia 1.10.4", "language": "julia", "name": "julia-1.10"}
    info = language("julia", ".jl", "application/julia", "1.10.4")
    vector = {"text/plain": "3-element Vector{Float64}:\n 1.0\n 1.4142135623730951\n 1.7320508075688772"}
    svg = (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="120" height="80">\n'
        '<path d="M0 40 Q 30 0, 60 40 T 120 40" stroke="#009AF9" fill="none"/>\n</svg>\n'
    )
    trace = [
        "DomainError with -1.0:\nsqrt was called with a negative real argument.",
        "",
        "Stacktrace:",
        (
            " [1] \x1b[0m\x1b[1mthrow_complex_domainerror\x1b[22m\x1b[0m\x1b[1m(\x1b[22m"
            "\x1b[90mf\x1b[39m::\x1b[0mSymbol\x1b[0m\x1b[1m)\x1b[22m"
        ),
        "\x1b[90m   @\x1b[39m \x1b[35mBase.Math\x1b[39m \x1b[90m./\x1b[39m\x1b[90m\x1b[4mmath.jl:33\x1b[24m\x1b[39m",
    ]
    return Recipe(
        "julia",
        notebook(
            markdown("# Roots in Julia"),
            code(
                'n = 3; α = 0.5 # how many\nlabel = "roots"',
                result(1, {"text/plain": '"roots"'}),
                count=1,
                tags=["parameters"],
            ),
            code("sqrt.(1:n)", result(2, vector), count=2),
            code("using Plots\nplot(sin)", result(3, {"image/svg+xml": svg, "text/html": svg}), count=3),
            code(
                "sqrt(-1.0)",
                error("LoadError", "DomainError with -1.0:\nsqrt was called with a negative real argument.", *trace),
                count=4,
            ),
            code("#= a block\n# %% comment =#\n@show n;", stream("n = 3\n"), count=5),
            code(";ls -1\n", stream("data.csv\n"), count=6),
            code("?sqrt", count=7),
            kernel=kernel,
            language_info=info,
        ),
        style=Style(indent=2),
    )


def bash() -> Recipe:
    kernel = {"display_name": "Bash", "language": "bash", "name": "bash"}
    info = {"codemirror_mode": "shell", "file_extension": ".sh", "mimetype": "text/x-sh", "name": "bash"}
    return Recipe(
        "bash",
        notebook(
            markdown("# Backups\n\nRun on the host, **not** in a container."),
            code("TARGET=/var/backups # where to\nKEEP=7", count=1, tags=["parameters"]),
            code(
                "echo \"keeping $KEEP in ${TARGET}\"\nls | grep '^#' || true",
                stream("keeping 7 in /var/backups\n"),
                count=2,
            ),
            code(
                "cat <<'EOF' | sed 's/a/b/'\n# %% not a cell\na $HOME\nEOF",
                stream("# %% not a cell\nb $HOME\n"),
                count=3,
            ),
            code(
                "ls --color=always /nowhere",
                stream("ls: cannot access '/nowhere': No such file or directory\n", "stderr"),
                error("", "2"),
                count=4,
            ),
            code("%magic-like job\n!history", stream("bash: fg: %magic-like: no such job\n", "stderr"), count=5),
            kernel=kernel,
            minor=4,
            language_info=info,
        ),
    )


def scala() -> Recipe:
    kernel = {"display_name": "Scala", "language": "scala", "name": "scala"}
    info = language(
        "scala", ".sc", "text/x-scala", "2.13.14", codemirror_mode="text/x-scala", nbconvert_exporter="script"
    )
    shown = "\x1b[36mxs\x1b[39m: \x1b[32mList\x1b[39m[\x1b[32mInt\x1b[39m] = \x1b[33mList\x1b[39m(\x1b[32m1\x1b[39m, \x1b[32m2\x1b[39m)"
    return Recipe(
        "scala",
        notebook(
            code(
                "val top: Int = 5 // how many",
                result(1, {"text/plain": "\x1b[36mtop\x1b[39m: \x1b[32mInt\x1b[39m = \x1b[32m5\x1b[39m"}),
                count=1,
                tags=["parameters"],
            ),
            code("val xs = List(1, 2)", result(2, {"text/plain": shown}), count=2),
            markdown("`// %%` is how a cell begins in a script."),
            code(
                "// %% not a cell\nxs.sum",
                result(3, {"text/plain": "\x1b[36mres3\x1b[39m: \x1b[32mInt\x1b[39m = \x1b[32m3\x1b[39m"}),
                count=3,
            ),
            kernel=kernel,
            minor=2,
            language_info=info,
        ),
    )


def typescript() -> Recipe:
    kernel = {"display_name": "Deno", "language": "typescript", "name": "deno"}
    info = language(
        "typescript",
        ".ts",
        "text/x.typescript",
        "5.4.5",
        codemirror_mode="typescript",
        nbconvert_exporter="script",
        pygments_lexer="typescript",
    )
    ansi = '{ name: \x1b[32m"Ada"\x1b[39m, born: \x1b[33m1815\x1b[39m }'
    return Recipe(
        "typescript",
        notebook(
            markdown("# Deno\n\nGenerics: `Map<string, number>`"),
            code(
                "interface Person { name: string; born: number }\nconst ada: Person = { name: 'Ada', born: 1815 };\nada",
                result(1, {"text/plain": ansi}),
                count=1,
            ),
            code(
                "console.log(`in ${2026 - ada.born} years`);\nconsole.error('oops')",
                stream("in 211 years\n"),
                stream("oops\n", "stderr"),
                count=2,
            ),
            code(
                "missing()",
                error(
                    "ReferenceError",
                    "missing is not defined",
                    "Stack trace:",
                    "ReferenceError: missing is not defined",
                    "    at <anonymous>:1:22",
                ),
                count=3,
            ),
            kernel=kernel,
            language_info=info,
        ),
    )


def octave() -> Recipe:
    kernel = {"display_name": "Octave", "language": "octave", "name": "octave"}
    info = language("octave", ".m", "text/x-octave", "8.4.0")
    return Recipe(
        "octave",
        notebook(
            markdown("# Matrices"),
            code("A = [1 2; 3 4]; % small\nA'", stream("ans =\n\n   1   3\n   2   4\n\n"), count=1),
            code("%% a section, not a cell\ndet(A)", stream("ans = -2\n"), count=2),
            code("disp('done')\n%plot -f svg", stream("done\n"), count=3),
            kernel=kernel,
            minor=4,
            language_info=info,
        ),
    )


def widgets() -> Recipe:
    layout, slider, style = "6a3f0d2c", "b7d1e9aa", "0c9ef6d4"
    base = {"_model_module_version": "2.0.0", "_view_count": None, "_view_module_version": "2.0.0"}
    controls = base | {"_model_module": "@jupyter-widgets/controls", "_view_module": "@jupyter-widgets/controls"}
    state = {
        layout: {
            "model_module": "@jupyter-widgets/base",
            "model_module_version": "2.0.0",
            "model_name": "LayoutModel",
            "state": base | {"_model_module": "@jupyter-widgets/base", "_model_name": "LayoutModel", "width": None},
        },
        slider: {
            "model_module": "@jupyter-widgets/controls",
            "model_module_version": "2.0.0",
            "model_name": "IntSliderModel",
            "state": controls
            | {
                "_model_name": "IntSliderModel",
                "_view_name": "IntSliderView",
                "behavior": "drag-tap",
                "description": "<script>alert('description')</script>",
                "layout": f"IPY_MODEL_{layout}",
                "max": 100,
                "style": f"IPY_MODEL_{style}",
                "value": 42,
            },
            "buffers": [{"data": "AAECAw==", "path": ["blob"], "encoding": "base64"}],
        },
    }
    view = {"model_id": slider, "version_major": 2, "version_minor": 0}
    shown = {"application/vnd.jupyter.widget-view+json": view, "text/plain": "IntSlider(value=42, description='size')"}
    return Recipe(
        "widgets",
        notebook(
            markdown("# Sliders"),
            code(
                "import ipywidgets as widgets\n\nsize = widgets.IntSlider(value=42, description='size')\nsize",
                result(1, shown),
                count=1,
            ),
            code(
                "@widgets.interact(x=(0, 10))\ndef square(x=3):\n    return x * x",
                display(
                    {
                        "application/vnd.jupyter.widget-view+json": view | {"model_id": "gone"},
                        "text/plain": (
                            "interactive(children=(IntSlider(value=3, description='x', max=10), "
                            "Output()), _dom_classes=('widget-interact',))"
                        ),
                    }
                ),
                count=2,
            ),
            code("widgets.Output()", stream("Output()\n"), count=3),
            language_info=language("python", ".py", "text/x-python", "3.12.4"),
            widgets={
                "application/vnd.jupyter.widget-state+json": {"state": state, "version_major": 2, "version_minor": 0}
            },
        ),
    )


def colab() -> Recipe:
    base = {"base_uri": "https://localhost:8080/", "height": 34}
    return Recipe(
        "colab",
        notebook(
            markdown(
                (
                    '<a href="https://colab.research.google.com/github/ada/nb/blob/main/a.ipynb" target="_parent">'
                    '<img src="https://colab.research.google.com/assets/colab-badge.svg" alt="Open In Colab"/></a>'
                ),
                id="view-in-github",
                colab_type="text",
            ),
            markdown("# Training", id="x0FpmV9kqLz1"),
            code(
                (
                    '#@title Settings { run: "auto", display-mode: "form" }\n'
                    'epochs = 3 #@param {type:"slider", min:1, max:10, step:1}\nname = "small" #@param ["small", "large"]'
                ),
                count=None,
                id="Qm3yZ_4kR1aB",
                cellView="form",
            ),
            code(
                "!pip install -q nothing-much\nfrom google.colab import drive\ndrive.mount('/content/drive')",
                stream("Mounted at /content/drive\n"),
                count=1,
                id="hJ5e7tYw2PqC",
                colab=base,
                outputId="d1b0f2f4-6f1b-4c0e-a0a5-2f6c1b7a9d3e",
            ),
            code(
                "epochs * 2",
                result(
                    2, {"text/plain": "6", "application/vnd.google.colaboratory.intrinsic+json": {"type": "number"}}
                ),
                count=2,
                id="Zk8",
                executionInfo={
                    "status": "ok",
                    "timestamp": 1700000000000,
                    "user_tz": -60,
                    "elapsed": 12,
                    "user": {"displayName": "Ada", "userId": "0123456789"},
                },
            ),
            minor=0,
            accelerator="GPU",
            colab={"provenance": [], "gpuType": "T4", "toc_visible": True, "authorship_tag": "ABX9TyM"},
            language_info={"name": "python"},
        ),
        style=Style(indent=2, sort_keys=False, end=""),
    )


def vscode() -> Recipe:
    kernel = {"display_name": ".venv", "language": "python", "name": "python3"}
    info = language(
        "python",
        ".py",
        "text/x-python",
        "3.12.4",
        codemirror_mode={"name": "ipython", "version": 3},
        nbconvert_exporter="python",
        pygments_lexer="ipython3",
    )
    trace = [
        "\x1b[31m---------------------------------------------------------------------------\x1b[39m",
        "\x1b[31mNameError\x1b[39m                                 Traceback (most recent call last)",
        (
            "\x1b[36mCell\x1b[39m\x1b[36m \x1b[39m\x1b[32mIn[3]\x1b[39m\x1b[32m, line 1\x1b[39m\n"
            "\x1b[32m----> \x1b[39m\x1b[32m1\x1b[39m frame\n"
        ),
        "\x1b[31mNameError\x1b[39m: name 'frame' is not defined",
    ]
    return Recipe(
        "vscode",
        notebook(
            with_id(markdown("## Look at it"), "4f2b8a31"),
            with_id(code("%load_ext autoreload\n%autoreload 2", count=1), "c0ffee00"),
            with_id(
                code(
                    "print('hi')",
                    stream("hi\n"),
                    count=2,
                    vscode={"languageId": "python"},
                    pycharm={"name": "#%%\n", "is_executing": False},
                ),
                "deadbeef",
            ),
            with_id(code("frame", error("NameError", "name 'frame' is not defined", *trace), count=3), "9a8b7c6d"),
            with_id(code("SELECT 1", vscode={"languageId": "sql"}), "0badf00d"),
            kernel=kernel,
            language_info=info,
            vscode={"interpreter": {"hash": "b1946ac92492d2347c6235b4d2611184"}},
            orig_nbformat=4,
        ),
        style=Style(sort_keys=False),
    )


def slides() -> Recipe:
    def slide(kind: str) -> Fields:
        return {"slideshow": {"slide_type": kind}}

    return Recipe(
        "slides",
        notebook(
            markdown("# A talk\n\n<style>.reveal h1 { color: red }</style>", **slide("slide")),
            markdown("- one\n- two", **slide("fragment")),
            code("print('shown')", stream("shown\n"), count=1, **slide("subslide")),
            markdown("Say it slowly.", **slide("notes")),
            markdown("left out", **slide("skip")),
            code("", **slide("-")),
            rise={"theme": "simple", "transition": "none", "autolaunch": False},
            celltoolbar="Slideshow",
            livereveal={"scroll": True},
            language_info=language("python", ".py", "text/x-python", "3.9.2"),
            toc={"base_numbering": 1, "nav_menu": {}, "toc_cell": False},
        ),
    )


def hidden() -> Recipe:
    return Recipe(
        "hidden",
        notebook(
            markdown("# Report\n\nOnly the results show."),
            code("secret = 'not shown'", count=1, tags=["hide-input"]),
            code("print('out only')", stream("out only\n"), count=2, tags=["remove_input"]),
            code("print('source only')", stream("source only\n"), count=3, tags=["hide-output"]),
            code("print('gone')", stream("gone\n"), count=4, tags=["remove_cell"]),
            code(
                "print('by jupyter')",
                stream("by jupyter\n"),
                count=5,
                jupyter={"source_hidden": True, "outputs_hidden": False},
            ),
            code(
                "print('outputs by jupyter')",
                stream("outputs by jupyter\n"),
                count=6,
                jupyter={"outputs_hidden": True},
                collapsed=True,
            ),
            markdown("## Folded", heading_collapsed=True),
            markdown("under it", hidden=True),
            code("print(1)", stream("1\n"), count=7, hide_input=True, scrolled=True),
            title="Quarterly <report>",
            authors=[{"name": "Ada Lovelace"}],
            hide_input=False,
            language_info=language("python", ".py", "text/x-python", "3.11.2"),
        ),
    )


def jupytext_paired() -> Recipe:
    jupytext = {
        "cell_metadata_filter": "-all",
        "formats": "ipynb,py:percent",
        "main_language": "python",
        "notebook_metadata_filter": "all,-language_info",
        "text_representation": {
            "extension": ".py",
            "format_name": "percent",
            "format_version": "1.3",
            "jupytext_version": "1.19.1",
        },
    }
    return Recipe(
        "jupytext-paired",
        notebook(
            raw("---\ntitle: Paired\ndate: 2026-10-01\n---"),
            markdown("Paired with a script."),
            code("# + not a light cell\nx = 1\n\n\ndef f():\n    return x\n\n\n", count=3),
            code(
                '"""A string that\n# %%\nlooks like a cell."""',
                result(4, {"text/plain": "'A string that\\n# %%\\nlooks like a cell.'"}),
                count=4,
                title="A title",
                lines_to_next_cell=2,
            ),
            code(
                "f()",
                result(5, {"text/plain": "1"}),
                count=5,
                **keys({"key with blanks": 1, "nested": {"a": [True, None]}, "flag": None}),
            ),
            jupytext=jupytext,
            language_info=language("python", ".py", "text/x-python", "3.11.2"),
        ),
    )


def nbgrader() -> Recipe:
    def grade(name: str, *, solution: bool, points: int | None = None) -> Fields:
        made: Fields = {
            "grade": points is not None,
            "grade_id": name,
            "locked": not solution,
            "schema_version": 3,
            "solution": solution,
            "task": False,
        }
        return {"nbgrader": made if points is None else made | {"points": points}}

    return Recipe(
        "nbgrader",
        notebook(
            markdown("**Exercise.** Write `mean`.", **grade("cell-1", solution=False)),
            code(
                "def mean(xs):\n    ### BEGIN SOLUTION\n    return sum(xs) / len(xs)\n    ### END SOLUTION",
                **grade("mean", solution=True),
            ),
            code("assert mean([1, 2, 3]) == 2", **grade("test_mean", solution=False, points=2)),
            markdown("YOUR ANSWER HERE", **grade("why", solution=True, points=1)),
            language_info=language("python", ".py", "text/x-python", "3.10.0"),
        ),
    )


def conflicted() -> Recipe:
    """A merge by nbdime or git that somebody left: still valid JSON, with markers inside a cell."""
    return Recipe(
        "conflict-markers",
        notebook(
            code(
                "<<<<<<< local\nx = 1\n=======\nx = 2\n>>>>>>> remote",
                **keys({"nbdime-conflicts": {"local_diff": [], "remote_diff": []}}),
            ),
            markdown("Title\n=======\n\n<<<<<<< quoted in prose"),
            language_info=language("python", ".py", "text/x-python", "3.11.2"),
        ),
    )
