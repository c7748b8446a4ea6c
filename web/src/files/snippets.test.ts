import { expect, test } from "vitest"
import { nextName, pathBeside, readingCode } from "./snippets.ts"

test("a file lands beside the notebook's own", () => {
  expect(pathBeside("reports/sales.py", "a.csv")).toBe("reports/a.csv")
  expect(pathBeside("sales.py", "a.csv")).toBe("a.csv")
  expect(pathBeside(null, "C:\\x\\a.csv")).toBe("a.csv")
})

test("a second of a name gets a number before its ending", () => {
  expect(nextName("data/a.csv", 2)).toBe("data/a 2.csv")
  expect(nextName("data.d/readme", 3)).toBe("data.d/readme 3")
  expect(nextName(".env", 2)).toBe(".env 2")
})

test("the code to read it follows from the ending, and quotes the name", () => {
  expect(readingCode("data/Sales 2026.csv")).toBe('import pandas as pd\n\nsales_2026 = pd.read_csv("Sales 2026.csv")\nsales_2026.head()')
  expect(readingCode("2026.json")).toContain('data_2026 = json.loads(Path("2026.json").read_text())')
  expect(readingCode('a"b.bin')).toContain('a_b = Path("a\\"b.bin").read_bytes()')
  expect(readingCode("ü.txt")).toContain('u = Path("ü.txt").read_text()')
})
