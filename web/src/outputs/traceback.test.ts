import { expect, test } from "vitest"
import { DEFAULTS } from "../core/types.gen.ts"
import type { Execution, Output } from "../core/types.gen.ts"
import { errorLine, faultMessage, faultText, readTrace } from "./traceback.ts"

const TRACEBACK = [
  "\x1b[31m---------------------------------------------------------------------------\x1b[39m",
  "\x1b[31mKeyError\x1b[39m                                  Traceback (most recent call last)",
  "\x1b[36mCell\x1b[39m\x1b[36m \x1b[39m\x1b[32mIn[5]\x1b[39m\x1b[32m, line 2\x1b[39m\n\x1b[32m      1\x1b[39m x = {}\n\x1b[32m----> \x1b[39m\x1b[32m2\x1b[39m f(x)",
  "\x1b[36mCell\x1b[39m\x1b[36m \x1b[39m\x1b[32mIn[3]\x1b[39m\x1b[32m, line 7\x1b[39m, in f(x)\n      6 def f(x):\n----> 7     return x['region']",
  "File \x1b[32m~/work/.venv/lib/python3.11/site-packages/pandas/core/frame.py:10\x1b[39m, in get(key)\n---> 10 raise KeyError(key)",
  "File \x1b[32m~/work/helpers.py:3\x1b[39m, in own()\n----> 3 raise",
  "\x1b[31mKeyError\x1b[39m: 'region'",
]

function execution(outputs: readonly Output[]): Execution {
  return { ...DEFAULTS.Execution, id: "x", cell: "c", source_hash: "", state: "error", by: "human:ada", at: "", outputs } as unknown as Execution
}

test("frames of cells, of files and of libraries", () => {
  const trace = readTrace(TRACEBACK)
  expect(trace.frames.map(({ line, count, isLibrary }) => [line, count, isLibrary])).toEqual([
    [2, 5, false],
    [7, 3, false],
    [null, null, true],
    [null, null, false],
  ])
  expect(trace.line).toBe(2)
  expect(trace.rest).toHaveLength(3)
})

test("a traceback that was joined to one text is taken apart", () => {
  expect(readTrace([TRACEBACK.join("\n")]).frames.map((frame) => frame.line)).toEqual([2, 7, null, null])
})

test("a syntax error names its line; other kernels' errors name none", () => {
  const syntax = ["  Cell \x1b[36mIn[3]\x1b[39m, line 4\x1b[31m\n    x = \n        ^\x1b[39m\nSyntaxError: invalid syntax"]
  expect(readTrace(syntax).line).toBe(4)
  expect(readTrace(["Error in f(): object 'x' not found\nTraceback:\n"]).line).toBeNull()
  expect(readTrace(['  File "<ipython-input-1>", line 3\n    x ='])).toMatchObject({ line: null, frames: [{ isLibrary: false }] })
})

test("the line of an execution that failed", () => {
  const raised: Output = { kind: "error", ename: "KeyError", evalue: "'region'", traceback: TRACEBACK }
  expect(errorLine(execution([{ kind: "stream", name: "stdout" }, raised]))).toBe(2)
  expect(errorLine(execution([]))).toBeNull()
  expect(faultMessage(raised)).toBe("KeyError: 'region'")
  expect(faultText(raised)).not.toContain("\x1b")
})
