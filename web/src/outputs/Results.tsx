/** Results that a cell recorded: each with its name and its value. */

import { memo } from "react"
import { harmless } from "../core/visible.ts"
import type { NamedValue } from "./media.ts"
import { valueText } from "./value_text.ts"
import css from "./Results.module.css"

export const Results = memo(function Results({ results }: { readonly results: readonly NamedValue[] }) {
  return (
    <dl className={css["results"]} aria-label="Results" data-output="results">
      {results.map(({ name, value, note }) => (
        <div key={name} className={css["result"]}>
          <dt>{harmless(name)}</dt>
          <dd>{value === undefined ? note : harmless(valueText(value))}</dd>
        </div>
      ))}
    </dl>
  )
})
