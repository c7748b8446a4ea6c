/** What is plotted of a schedule: its results that are numbers, over its runs, as points of a small picture. */

import type { ScheduledRun } from "../sync/api_schedules.ts"

export const WIDTH = 320
export const HEIGHT = 64
const EDGE = 5

export interface PlotPoint {
  readonly x: number
  readonly y: number
  readonly run: ScheduledRun
  readonly value: number
}

/** The names of the results that are numbers in at least two of the runs. */
export function plottedNames(runs: readonly ScheduledRun[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const { results } of runs) {
    for (const [name, value] of Object.entries(results)) if (typeof value === "number") counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts].filter(([, count]) => count > 1).map(([name]) => name)
}

/** One result, from the oldest run on the left to the newest on the right. `runs` has the newest first. */
export function plotPoints(runs: readonly ScheduledRun[], name: string): readonly PlotPoint[] {
  const found = [...runs].reverse().flatMap((run) => {
    const value = run.results[name]
    return typeof value === "number" ? [{ run, value }] : []
  })
  const values = found.map(({ value }) => value)
  const [least, most] = [Math.min(...values), Math.max(...values)]
  const across = (WIDTH - 2 * EDGE) / Math.max(1, found.length - 1)
  const share = (value: number): number => (most === least ? 0.5 : (value - least) / (most - least))
  return found.map((point, index) => ({ ...point, x: EDGE + index * across, y: HEIGHT - EDGE - share(point.value) * (HEIGHT - 2 * EDGE) }))
}
