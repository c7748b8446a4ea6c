/** What the editor's parts read: languages, kernels' answers, and which editors are kept. */

import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { visible } from "../core/visible.ts"
import { cellLanguage } from "./cell_magic.ts"
import { highlighted } from "./highlight.ts"
import { readCompletions, readInspection, readSignature } from "./kernel_replies.ts"
import { linesOf } from "./lines.ts"
import { SessionCache } from "./session_cache.ts"

function classesOf(source: string, language: string): string[] {
  return highlighted(source, language).filter((piece) => piece.classes).map(({ text, classes }) => `${text}:${classes.slice(3)}`)
}

describe("colours", () => {
  test("of pieces whose texts are the source", () => {
    const cases = JSON.parse(readFileSync(new URL("../../../spec/cases/visible.json", import.meta.url), "utf8")) as { texts: [string, string][] }
    const sources = [...cases.texts.map(([source]) => source), "def f(x):\n    '''doc\n'''\n\n", "```python\nx = 1\n```\n", "-- a\r\nSELECT 'x", "%%bash\n\nls 'x\n", "%%time\n%%sql", "%%html\r\nx\n"]
    for (const source of sources) {
      for (const language of ["python", "markdown", "sql", "R", "julia", "bash", "javascript", "java", "none"]) {
        const pieces = highlighted(source, language)
        expect(pieces.map(({ text }) => text).join(""), language).toBe(source)
        expect(linesOf(pieces).map((line) => line.map(({ text }) => text).join("")).join("\n")).toBe(source)
        expect(pieces.map(({ text }) => visible(text)).join("")).toBe(visible(source))
      }
    }
  })

  test("of Python and of SQL", () => {
    expect(classesOf("def f(): return 'a' # b", "ipython3")).toEqual([
      "def:keyword", "f:function", "():operator", "return:keyword", "'a':string", "# b:comment",
    ])
    expect(classesOf("Select count(*) -- n\nfrom t where x = 'it''s' and y <> 1.5", "sql")).toEqual([
      "Select:keyword", "count:function", "*:operator", "-- n:comment", "from:keyword", "where:keyword", "=:operator", "'it''s':string",
      "and:keyword", "<>:operator", "1.5:number",
    ])
  })

  test("of a string without an end", () => {
    expect(classesOf('x <- "a\ny <- 1', "R")).toContain('"a:string')
    expect(classesOf("SELECT 'a\nb", "sql")).toEqual(["SELECT:keyword", "'a:string", "b:string"])
    expect(classesOf("/* a\nb", "javascript")).toEqual(["/* a:comment", "b:comment"])
  })

  test("of a cell whose magic hands it to another language", () => {
    expect(classesOf("%%bash -e\nfor x in a; do echo 'y'; done # all", "python")).toEqual([
      "%%bash:keyword", "for:keyword", "in:keyword", "do:keyword", "echo:keyword", "'y':string", "done:keyword", "# all:comment",
    ])
    expect(classesOf("%%sql\nSELECT 1 -- def", "ipython3")).toEqual(["%%sql:keyword", "SELECT:keyword", "1:number", "-- def:comment"])
    expect(classesOf("%%html\n<b>if</b>", "python")).toEqual(["%%html:keyword"])
    expect(classesOf("%%time\n%%bash\nexit 1", "python")).toEqual(["%%time:keyword", "%%bash:keyword", "exit:keyword", "1:number"])
    expect(classesOf("%%markdown\n# a", "python")).toContain(" a:heading")
  })

  test("of a cell whose magic leaves it as it is", () => {
    for (const magic of ["%%time", "%%timeit -n 1", "%%capture out", "%%unknown", "%time", "%%writefile a.py", "%%script python3", "%%"]) {
      expect(cellLanguage(`${magic}\nx = 1`, "python"), magic).toBe("python")
      expect(classesOf(`${magic}\nimport os`, "python"), magic).toContain("import:keyword")
    }
    expect(cellLanguage("%%bash\nls", "R")).toBe("R")
    expect(["%%script /usr/bin/env bash", "%%writefile -a x.json", "%%writefile x", "%%constructor"].map((line) => cellLanguage(line, "python"))).toEqual([
      "%%bash", "%%javascript", "%%text", "python",
    ])
  })

  test("of code in Markdown", () => {
    expect(classesOf("# a **b**\n\n```python\nimport os\n```", "markdown")).toContain("import:keyword")
  })
})

describe("a kernel's answer", () => {
  const reply = {
    status: "ok",
    matches: ["groupby", "groups", "groupby"],
    cursor_start: 4,
    cursor_end: 6,
    metadata: { _jupyter_types_experimental: [{ start: 4, end: 6, text: "groupby", type: "function" }, { text: "groups", type: "<unknown>" }, 3] },
  }

  test("with completions is read in units", () => {
    const options = [{ label: "groupby", type: "function" }, { label: "groups", type: "" }]
    expect(readCompletions(reply, "df.xgr")).toEqual({ from: 4, to: 6, options })
    expect(readCompletions(reply, "🦊.xxgr")).toEqual({ from: 5, to: 7, options })
  })

  test("that says nothing is none", () => {
    for (const none of [null, {}, { status: "error" }, { ...reply, matches: [] }, { ...reply, cursor_start: null }]) {
      expect(readCompletions(none, "x")).toBeNull()
    }
    for (const none of [null, { status: "ok", found: false, data: {} }, { status: "ok", found: true, data: { "text/plain": " " } }]) {
      expect(readInspection(none)).toBeNull()
    }
  })

  test("about a function has its signature", () => {
    const text = "\u001b[31mSignature:\u001b[39m f(\n    a,\n    b=1,\n)\n\u001b[31mDocstring:\u001b[39m\nAdd them.\n\nMore.\n\u001b[31mFile:\u001b[39m x.py"
    const inspection = readInspection({ status: "ok", found: true, data: { "text/plain": text } })
    expect(inspection).toBe("Signature: f(\n    a,\n    b=1,\n)\nDocstring:\nAdd them.\n\nMore.\nFile: x.py")
    expect(readSignature(inspection ?? "")).toBe("f(\n    a,\n    b=1,\n)\nAdd them.")
    expect(readSignature("Docstring:\nprint(value, ...)\n\nPrints.")).toBe("print(value, ...)")
    expect(readSignature("Type: int")).toBeNull()
  })
})

test("the editors that were used last are kept", () => {
  const cache = new SessionCache<object>(2)
  const made = new Map<string, object>()
  const take = (name: string): boolean => {
    let isNew = false
    made.set(name, cache.take(name, () => ((isNew = true), {})))
    return isNew
  }
  expect([take("a"), take("b"), take("a"), take("c"), take("a"), take("b")]).toEqual([true, true, false, true, false, true])
})
