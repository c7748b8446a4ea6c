import { expect, test } from "vitest"

import type { ScheduledRun } from "../sync/api_schedules.ts"
import { HEIGHT, plotPoints, plottedNames, WIDTH } from "./plot_points.ts"

function run(number: number, results: ScheduledRun["results"]): ScheduledRun {
  const rest = { due: "", attempt: 1, status: "success", finished_at: null, seconds: 1, asked_by: null }
  return { run: `r${number}`, number, error: null, output: null, results, deliveries: [], ...rest }
}

const RUNS = [run(3, { score: 0.5, word: "x" }), run(2, { word: "y" }), run(1, { score: 1, once: 1 })]

test("only numbers that at least two runs have are plotted", () => {
  expect(plottedNames(RUNS)).toEqual(["score"])
})

test("the oldest run is on the left, and the largest value on top", () => {
  const points = plotPoints(RUNS, "score")
  expect(points.map(({ run: each }) => each.number)).toEqual([1, 3])
  expect(points[0]?.x).toBeLessThan(points[1]?.x ?? 0)
  expect(points[0]?.y).toBeLessThan(points[1]?.y ?? 0)
  for (const { x, y } of points) expect(x >= 0 && x <= WIDTH && y >= 0 && y <= HEIGHT).toBe(true)
})

test("values that are all the same are a line in the middle", () => {
  expect(plotPoints([run(2, { a: 4 }), run(1, { a: 4 })], "a").map(({ y }) => y)).toEqual([HEIGHT / 2, HEIGHT / 2])
})
