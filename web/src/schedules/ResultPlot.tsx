/** A result of a schedule over its runs: a line with a point for each, and the same as words. */

import type { ScheduledRun } from "../sync/api_schedules.ts"
import { HEIGHT, plotPoints, WIDTH } from "./plot_points.ts"
import css from "./Schedules.module.css"

export interface ResultPlotProps {
  readonly name: string
  readonly runs: readonly ScheduledRun[]
}

export function ResultPlot({ name, runs }: ResultPlotProps) {
  const points = plotPoints(runs, name)
  const values = points.map(({ value }) => value)
  const last = values.at(-1)
  const words = `${name}: ${points.length} runs, from ${Math.min(...values)} to ${Math.max(...values)}, last ${last ?? "none"}`
  return (
    <figure className={css["plot"]}>
      <figcaption>
        {name} <b>{last}</b>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={words} preserveAspectRatio="none">
        <polyline points={points.map(({ x, y }) => `${x},${y}`).join(" ")} />
        {points.map(({ x, y, run, value }) => (
          <circle key={run.run} cx={x} cy={y} r="3">
            <title>{`run ${run.number}: ${value}`}</title>
          </circle>
        ))}
      </svg>
    </figure>
  )
}
