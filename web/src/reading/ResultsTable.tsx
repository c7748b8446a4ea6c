/** The named results of a notebook or run. */

import { harmless } from "../core/visible.ts"
import type { Notebook, Result } from "../core/types.gen.ts"
import { byteSize } from "../outputs/media.ts"
import { valueText } from "../outputs/value_text.ts"
import css from "./Reading.module.css"

export function ResultsTable({ results }: { readonly results: Notebook["results"] }) {
  return (
    <table className={css["results"]} aria-label="Results">
      <tbody>
        {[...results.values()].map((result) => (
          <tr key={result.name}>
            <th scope="row">{harmless(result.name)}</th>
            <td>{textOf(result)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function textOf({ value, blob, kind }: Result): string {
  if (blob) return `${harmless(kind)}, ${byteSize(blob.size)}`
  return typeof value === "string" ? harmless(value) : harmless(valueText(value))
}
