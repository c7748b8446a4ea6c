import { expect, test } from "vitest"
import { headingsOf, isReadable, mayLink, mayShow, renderMarkdown } from "./markdown.ts"

test("headings have the anchors that Jupyter gives them", () => {
  expect(headingsOf("# One *two*\n\n## One two\n\ntext\n\n# `x` $y$")).toEqual([
    { level: 1, text: "One two", anchor: "One-two" },
    { level: 2, text: "One two", anchor: "One-two-2" },
    { level: 1, text: "x y", anchor: "x-y" },
  ])
})

test("links lead to the web, to a mailbox, or within the page", () => {
  const may = ["https://example.org", "http://example.org", "mailto:a@example.org", "#here"]
  const not = ["javascript:alert(1)", "JavaScript:alert(1)", "data:text/html,x", "//example.org", "file.html", "https://a b", "\thttps://a"]
  expect([may.every(mayLink), not.some(mayLink)]).toEqual([true, false])
})

test("pictures come from the notebook only", () => {
  expect(mayShow("data:image/png;base64,AAAA")).toBe(true)
  expect(["https://example.org/x.png", "data:text/html;base64,AAAA", "data:image/png;base64,AA\"x", "blob:x"].some(mayShow)).toBe(false)
  expect(renderMarkdown("![a](attachment:b.png)", { "b.png": { "image/png": "AAAA" } })).toContain('src="data:image/png;base64,AAAA"')
  expect(renderMarkdown("![a](https://example.org/x.png)")).not.toContain("<img")
})

test("a very long text is not read as Markdown, unless pictures make it long", () => {
  expect(isReadable("x".repeat(100_001))).toBe(false)
  expect(isReadable(`![a](data:image/png;base64,${"A".repeat(200_000)})`)).toBe(true)
})

test("what would take long to read does not", () => {
  for (const hard of ["$".repeat(50_000), "[".repeat(50_000), "\\begin{a}".repeat(5000), "$a ".repeat(20_000), "*a _".repeat(20_000)]) renderMarkdown(hard)
})
