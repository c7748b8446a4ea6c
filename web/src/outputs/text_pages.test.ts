import { expect, test } from "vitest"
import { PAGE, TextPages } from "./text_pages.ts"

const text = Array.from({ length: 2 * PAGE + 10 }, (_, at) => `Line ${at}\n`).join("")

test("a text has pages of lines", async () => {
  const pages = await TextPages.of(text)
  expect([pages.count, pages.lines]).toEqual([3, 2 * PAGE + 10])
  expect(pages.page(1).startsWith(`Line ${PAGE}\n`)).toBe(true)
  expect(pages.page(0) + pages.page(1) + pages.page(2)).toBe(text)
  expect(pages.pageAt(text.indexOf(`Line ${PAGE}\n`))).toBe(1)
  expect(pages.pageAt(text.indexOf(`Line ${PAGE}\n`) - 1)).toBe(0)
  expect((await TextPages.of("a\nb")).lines).toBe(2)
  for (const line of [1, 2, PAGE, PAGE + 1, 2 * PAGE + 10]) expect(text.slice(pages.lineStart(line)).split("\n", 1)).toEqual([`Line ${line - 1}`])
  expect(pages.lineStart(9 * PAGE)).toBe(text.length)
})

test("a page begins as the one before it ended", async () => {
  const pages = await TextPages.of(`\x1b[35m${text}`)
  expect(pages.look(2).colour).toBe("5")
})

test("whatever the case, everything is found", async () => {
  const pages = await TextPages.of(text)
  const found = await pages.find("line 4009", () => true)
  expect(found?.at).toEqual([text.indexOf("Line 4009")])
  expect((await pages.find("line", () => true))?.at).toHaveLength(2 * PAGE + 10)
  expect((await pages.find("(", () => true))?.at).toEqual([])
  expect(await pages.find("line", () => false)).toBeNull()
})
