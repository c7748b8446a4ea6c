import { expect, test } from "vitest"

import { isPagePath } from "./page_paths.ts"

test.each(["/", "/runs", "/runs/", "/runs/r1", "/settings", "/notebooks/n1", "/notebooks/a%20b"])("there is a page at %s", (path) => {
  expect(isPagePath(path)).toBe(true)
})

test.each(["", "/foo", "/notebooks", "/notebooks/", "/notebooks/a/b", "/settings/more", "/runsx", "//", "/api/me", "/assets/index.js"])(
  "there is none at %s",
  (path) => {
    expect(isPagePath(path)).toBe(false)
  },
)
