/** What came of it: results before and after, and checks. */

import type { Json } from "../core/types.gen.ts"
import { visible } from "../core/visible.ts"
import type { ReviewCheck, ReviewResult } from "../sync/api_reviews.ts"
import { Icon } from "../ui/Icon.tsx"
import type { IconName } from "../ui/Icon.tsx"
import css from "./Review.module.css"

export function Results({ results, labels }: { readonly results: readonly ReviewResult[]; readonly labels: readonly [string, string] }) {
  const changed = results.filter(({ same }) => !same)
  if (results.length === 0) return null
  return (
    <section className={css["box"]} aria-labelledby="results">
      <h2 id="results">Results</h2>
      {changed.length === 0 ? (
        <p className={css["soft"]}>{results.length === 1 ? "The result is the same." : `All ${results.length} results are the same.`}</p>
      ) : (
        <div className={css["scroll"]} role="region" aria-labelledby="results" tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">Result</th>
                <th scope="col">{labels[0]}</th>
                <th scope="col">{labels[1]}</th>
              </tr>
            </thead>
            <tbody>
              {changed.map((result) => (
                <tr key={result.name}>
                  <th scope="row">{visible(result.name)}</th>
                  <td data-side="old">{valueText(result.old)}</td>
                  <td data-side="new">{valueText(result.new)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

const LONGEST = 200

function valueText(value: Json | undefined): string {
  if (value === undefined) return "–"
  if (value === null) return "too large to show"
  const text = typeof value === "string" ? value : JSON.stringify(value)
  return visible(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)
}

const MARKS: Readonly<Record<ReviewCheck["status"], { readonly icon: IconName; readonly word: string }>> = {
  passed: { icon: "check", word: "passed" },
  failed: { icon: "cross", word: "failed" },
  skipped: { icon: "minus", word: "not known" },
}

/** In one line, so that nothing moves when they come; in full where one failed, or on request. Null: they are looked up. */
export function Checks({ checks }: { readonly checks: readonly ReviewCheck[] | null }) {
  const hasFailed = checks?.some(({ status }) => status === "failed") ?? false
  return (
    <section className={css["box"]} aria-labelledby="checks">
      <details key={String(hasFailed)} open={hasFailed}>
        <summary className={css["checksHead"]}>
          <h2 id="checks">Checks</h2>
          <span className={css["soft"]}>{checks === null ? "…" : checksInWords(checks)}</span>
        </summary>
        <ul className={css["checks"]}>
          {checks?.map(({ name, status, text, run }) => (
            <li key={name} data-status={status}>
              <Icon name={MARKS[status].icon} size={14} />
              <span>
                <b>{visible(name)}</b>: {MARKS[status].word}
                {text && <>, {visible(text)}</>} {run && <a href={`/runs/${encodeURIComponent(run)}`}>Its run</a>}
              </span>
            </li>
          ))}
        </ul>
      </details>
    </section>
  )
}

function checksInWords(checks: readonly ReviewCheck[]): string {
  const states = ["failed", "passed", "skipped"] as const
  const counts = states.map((state) => [checks.filter(({ status }) => status === state).length, MARKS[state].word] as const)
  return counts.flatMap(([count, word]) => (count > 0 ? [`${count} ${word}`] : [])).join(", ")
}
