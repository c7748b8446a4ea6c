import { expect, test } from "vitest"

import { isPagePath } from "./page_paths.ts"

test.each(["/", "/runs", "/runs/", "/runs/r1", "/settings", "/notebooks/n1", "/notebooks/a%20b", "/notebooks/n1/compare", "/runs/r1/compare/", "/read/n1"])("there is a page at %s", (path) => {
  expect(isPagePath(path)).toBe(true)
})

test.each(["", "/foo", "/notebooks", "/notebooks/", "/notebooks/a/b", "/read", "/read/n1/compare", "/compare", "/settings/more", "/runsx", "//", "/api/me", "/assets/index.js"])(
  "there is none at %s",
  (path) => {
    expect(isPagePath(path)).toBe(false)
  },
)
