/** How a result spreads over all runs, as bars from its smallest to its largest value. */

import type { RunColumn } from "../sync/api_runs.ts"
import { cellText } from "./cell_values.ts"
import css from "./RunTable.module.css"

const WIDTH = 64
const HEIGHT = 14

export function ColumnBars({ column: { bars, low, high } }: { readonly column: RunColumn }) {
  const most = Math.max(1, ...bars)
  const width = WIDTH / bars.length
  const words = `from ${cellText(low).text} to ${cellText(high).text}`
  return (
    <span className={css["bars"]} data-tip={words}>
      <svg width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true" focusable="false">
        {bars.map((count, index) => {
          // What is there is seen, however few.
          const height = count ? Math.max(1, (count / most) * HEIGHT) : 0
          return <rect key={index} x={index * width} y={HEIGHT - height} width={width - 1} height={height} />
        })}
      </svg>
      <span className="visually-hidden">{words}</span>
    </span>
  )
}
