"""How a page looks: its style sheet, and that of the frames in it.

Light and dark follow the reader's system. Colours of text keep a contrast of 4.5 to 1 with
what is behind them.
"""

COLOURS = """
:root {
  color-scheme: light dark;
  --paper: #fdfcfa; --ink: #22252a; --soft: #666b73; --line: #e4e1db; --code: #f5f3ee; --accent: #1d5fa8;
  --wrong: #b3261e; --wrong-paper: #fdf1ef; --warn: #8a6100; --warn-paper: #fdf8ea;
  --k: #8a2f8f; --s: #2c6e3f; --n: #a34508; --f: #1d5fa8; --b: #0f6b75; --d: #8a6100; --o: #55595f; --c: #6a6f76;
  --0: #22252a; --1: #b3261e; --2: #2c6e3f; --3: #8a6100; --4: #1d5fa8; --5: #8a2f8f; --6: #0f6b75; --7: #73777d;
  --8: #5d6167; --9: #c5301f; --10: #24793f; --11: #946a00; --12: #2469b8; --13: #99379e; --14: #0e7480; --15: #4a4e54;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #16181c; --ink: #dcdee2; --soft: #989da6; --line: #2d3036; --code: #1e2126; --accent: #7fb4f0;
    --wrong: #f2968c; --wrong-paper: #2a1b1c; --warn: #dcb560; --warn-paper: #26221a;
    --k: #d59be0; --s: #93c99d; --n: #e6a66e; --f: #85b8f2; --b: #79c7cf; --d: #dcb560; --o: #a8adb5; --c: #8b919a;
    --0: #8b919a; --1: #f2968c; --2: #93c99d; --3: #dcb560; --4: #85b8f2; --5: #d59be0; --6: #79c7cf; --7: #c5c9cf;
    --8: #989da6; --9: #f7a9a0; --10: #a6d9b0; --11: #e8c67c; --12: #9ec7f6; --13: #e0b0ea; --14: #91d6dd; --15: #f2f3f5;
  }
}
"""

PAGE = (
    COLOURS
    + """
* { box-sizing: border-box; }
html { scroll-behavior: auto; -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 1.0625rem/1.62 "Source Serif 4", "Source Serif Pro", Charter, "Iowan Old Style", Georgia, "DejaVu Serif", serif;
  font-kerning: normal; text-rendering: optimizeLegibility;
}
.page { display: grid; grid-template-columns: minmax(0, 48rem); justify-content: center; gap: 0 3.5rem; padding: 3.5rem 1.5rem 5rem; }
h1, h2, h3, h4, h5, h6, nav, .meta, .note, summary, footer, .prose table, .label, .count {
  font-family: system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, "DejaVu Sans", sans-serif;
}
h1, h2, h3, h4, h5, h6 { line-height: 1.25; margin: 1.9em 0 .55em; font-weight: 650; letter-spacing: -.011em; text-wrap: balance; }
h1 { font-size: 2.05rem; letter-spacing: -.022em; margin-top: 1.4em; }
h2 { font-size: 1.45rem; } h3 { font-size: 1.18rem; } h4, h5, h6 { font-size: 1rem; }
h5, h6 { color: var(--soft); }
header h1, .cell:first-child .prose > :first-child { margin-top: 0; }
p, ul, ol, dl, blockquote, table, figure { margin: 0 0 1em; }
a[href] { color: var(--accent); text-decoration-thickness: .06em; text-underline-offset: .16em; }
a:focus-visible, summary:focus-visible, pre:focus-visible, iframe:focus-visible {
  outline: 2px solid var(--accent); outline-offset: 3px; border-radius: 3px;
}
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: 1rem; background: var(--paper); padding: .4rem .8rem; z-index: 1; }
img, video { max-width: 100%; height: auto; }
hr { border: 0; border-top: 1px solid var(--line); margin: 2.2em 0; }

/* prose */
.prose > :last-child { margin-bottom: 0; }
.prose blockquote { margin-left: 0; padding-left: 1.1em; border-left: 3px solid var(--line); color: var(--soft); }
.prose li > p { margin-bottom: .35em; }
.prose table, .prose .wide table { border-collapse: collapse; font-size: .875rem; line-height: 1.45; font-variant-numeric: tabular-nums; }
.prose th { text-align: left; font-weight: 600; border-bottom: 1.5px solid var(--soft); }
.prose th, .prose td { padding: .38em .9em .38em 0; }
.prose td { border-bottom: 1px solid var(--line); vertical-align: top; }
.wide { overflow-x: auto; margin-bottom: 1em; }
.wide table { margin: 0; }
.prose mark { background: var(--warn-paper); color: inherit; padding: 0 .15em; }
.missing { font-size: .9em; color: var(--soft); border: 1px dashed var(--line); border-radius: 4px; padding: .1em .5em; }
code, pre, kbd, samp, tt {
  font-family: ui-monospace, "SF Mono", "Cascadia Code", "JetBrains Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-variant-ligatures: none;
}
code, kbd, samp, tt { font-size: .86em; }
:not(pre) > code { background: var(--code); padding: .12em .34em; border-radius: 4px; overflow-wrap: anywhere; }
pre { margin: 0; font-size: .82rem; line-height: 1.55; overflow-x: auto; tab-size: 4; }
pre code { font-size: inherit; background: none; padding: 0; }
.prose pre { background: var(--code); border-radius: 6px; padding: .8rem 1rem; margin: 0 0 1em; }
code.math { font-style: italic; font-size: .9em; }
.math { white-space: pre-wrap; }
pre.math { padding: .2rem 0 .2rem 1.5rem; background: none; }

/* cells */
.cell { position: relative; margin: 0 0 1.35rem; scroll-margin-top: 1rem; }
.cell.markdown { margin-bottom: 1.1rem; }
.count {
  position: absolute; right: calc(100% + .8rem); top: .72rem; font-size: .72rem; line-height: 1.75; color: var(--soft);
  white-space: nowrap; text-decoration: none; font-variant-numeric: tabular-nums;
}
.label { display: flex; flex-wrap: wrap; gap: .15rem .7rem; font-size: .74rem; color: var(--soft); margin: 0 0 .3rem; }
.label b { font-weight: 600; color: var(--ink); }
.source { position: relative; }
.source > pre { background: var(--code); border-radius: 7px; padding: .72rem 1rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.source.raw > pre { background: none; border: 1px dashed var(--line); color: var(--soft); }
.source.prompt > pre {
  font-family: inherit; font-size: .95rem; background: none; border-left: 3px solid var(--accent); border-radius: 0;
  padding: .1rem 0 .1rem 1rem;
}
details > summary { cursor: pointer; font-size: .78rem; color: var(--soft); padding: .15rem 0; width: fit-content; }
details[open] > summary { margin-bottom: .35rem; }
.outputs { margin-top: .6rem; padding-left: 1rem; display: grid; grid-template-columns: minmax(0, 1fr); gap: .6rem; }
.outputs > * { min-width: 0; margin: 0; }
.outputs img { display: block; background: #fff; border-radius: 4px; justify-self: start; }
.outputs audio, .outputs video { width: min(100%, 30rem); }
.outputs iframe {
  display: block; width: 100%; border: 0; resize: vertical; overflow: auto; min-height: 3rem; max-height: 90vh; color-scheme: light dark;
}
.text { max-height: 32rem; overflow: auto; tab-size: 8; }
.stderr { border-left: 3px solid var(--warn); padding-left: .8rem; background: var(--warn-paper); padding-block: .3rem; }
.error { border-left: 3px solid var(--wrong); padding: .5rem .8rem; background: var(--wrong-paper); max-height: none; }
.note { font-size: .8rem; color: var(--soft); }
.note + .text { margin-top: .2rem; }
.result { font-size: .95rem; }
.cut { display: block; color: var(--soft); font-style: italic; padding: .3rem 0; }
.invisible { font-size: .75em; color: var(--wrong); border: 1px solid; border-radius: 3px; padding: 0 .2em; }
.bold { font-weight: 700; } .faint { opacity: .75; } .italic { font-style: italic; }
.underline { text-decoration: underline; } .strike { text-decoration: line-through; }
.inverse { background: var(--ink); color: var(--paper); }
/* a colour that a program chose, darker or lighter as the paper wants it */
.x { color: color-mix(in oklab, var(--x) 78%, black); }

/* comments */
.comments { margin: -.6rem 0 1.35rem 1rem; padding: .35rem .9rem; border-left: 3px solid var(--line); font-size: .92rem; }
.talk .comments { margin-left: 0; margin-top: 0; }
.comments ol { list-style: none; margin: 0; padding: 0; }
.comments li + li { margin-top: .6rem; }
.comments p { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }

/* code */
.k { color: var(--k); } .s { color: var(--s); } .n { color: var(--n); } .f { color: var(--f); } .b { color: var(--b); }
.d { color: var(--d); } .o { color: var(--o); } .i { color: var(--n); } .c { color: var(--c); font-style: italic; }

/* contents */
nav { font-size: .84rem; line-height: 1.4; margin-bottom: 2rem; }
nav ol { list-style: none; margin: 0; padding: 0; }
nav li { padding: .2rem 0; }
nav a[href] { color: var(--soft); text-decoration: none; }
nav a[href]:hover { color: var(--accent); text-decoration: underline; }
.l2 { padding-left: .9rem; } .l3 { padding-left: 1.8rem; }
footer { margin-top: 4rem; font-size: .76rem; color: var(--soft); }

@media (prefers-color-scheme: dark) { .x { color: color-mix(in oklab, var(--x) 58%, white); } }
@media (min-width: 76rem) {
  .page.with-contents { grid-template-columns: 13rem minmax(0, 48rem) 9rem; }
  .with-contents nav {
    grid-column: 1; grid-row: 1 / span 3; position: sticky; top: 3.5rem; align-self: start;
    max-height: calc(100vh - 7rem); overflow: auto;
  }
  .with-contents header, .with-contents main, .with-contents footer { grid-column: 2; }
}
@media (max-width: 60rem) { .count { position: static; display: block; line-height: 1.4; margin-bottom: .15rem; } }
@media (max-width: 40rem) {
  body { font-size: 1rem; }
  .page { padding: 1.75rem 1rem 3rem; }
  h1 { font-size: 1.65rem; } h2 { font-size: 1.25rem; }
  .outputs { padding-left: 0; }
  .source > pre { padding: .6rem .75rem; }
}
@media print {
  :root { color-scheme: light; }
  body { font-size: 10.5pt; background: none; }
  .page, .page.with-contents { display: block; padding: 0; }
  nav, .skip { display: none; }
  .text { max-height: none; overflow: visible; white-space: pre-wrap; overflow-wrap: anywhere; }
  h1, h2, h3, h4 { break-after: avoid; }
  img, .source, tr { break-inside: avoid; }
}
"""
    + "".join(f".c{n} {{ color: var(--{n}); }}\n" for n in range(16))
)

FRAME = (
    COLOURS
    + """
body {
  margin: 0; padding: 2px; color: var(--ink); background: transparent;
  font: 14px/1.5 system-ui, -apple-system, "Segoe UI", Arial, "DejaVu Sans", sans-serif;
}
table { border-collapse: collapse; border: 0; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: .34em .8em; text-align: right; border: 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { font-weight: 600; }
thead th { border-bottom: 1.5px solid var(--soft); }
caption { text-align: left; color: var(--soft); padding-bottom: .3em; }
a { color: var(--accent); }
img, svg, video { max-width: 100%; }
body > :first-child { margin-top: 0; }
body > :last-child { margin-bottom: 0; }
"""
)
