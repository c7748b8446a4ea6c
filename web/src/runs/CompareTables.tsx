/** The facts of two runs as tables: what differs first, what is the same folded. */

import type { ComparedPair, RunComparison } from "../sync/api_runs.ts"
import { duration } from "../ui/relative_time.ts"
import { cellText, percent, signed } from "./cell_values.ts"
import type { Json } from "../core/types.gen.ts"
import css from "./Compare.module.css"

export interface PairsTableProps {
  readonly title: string
  readonly pairs: Readonly<Record<string, ComparedPair>>
  /** With how far numbers are apart. */
  readonly isMeasured?: boolean
}

export function PairsTable({ title, pairs, isMeasured = false }: PairsTableProps) {
  const all = Object.entries(pairs)
  const differing = all.filter(([, { same }]) => !same)
  const same = all.filter(([, pair]) => pair.same)
  const id = title.toLowerCase()
  return (
    <section className={css["part"]} aria-labelledby={id}>
      <h2 id={id}>
        {title} <span>{wordsOf(differing.length, same.length)}</span>
      </h2>
      {differing.length > 0 && <Pairs label={title} pairs={differing} isMeasured={isMeasured} />}
      {same.length > 0 && (
        <details open={differing.length === 0 && same.length <= 6}>
          <summary>
            {same.length} the same in both
          </summary>
          <Pairs label={`${title} that are the same`} pairs={same} isMeasured={false} />
        </details>
      )}
    </section>
  )
}

function wordsOf(differing: number, same: number): string {
  if (differing === 0) return same === 0 ? "none" : "the same"
  return `${differing} ${differing === 1 ? "differs" : "differ"}`
}

function Pairs({ label, pairs, isMeasured }: { readonly label: string; readonly pairs: readonly (readonly [string, ComparedPair])[]; readonly isMeasured: boolean }) {
  return (
    <div className={css["scroll"]} role="region" aria-label={label} tabIndex={0}>
      <table className={css["pairs"]} aria-label={label}>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">a</th>
            <th scope="col">b</th>
            {isMeasured && (
              <>
                <th scope="col" data-number>
                  b − a
                </th>
                <th scope="col" data-number>
                  change
                </th>
              </>
            )}
          </tr>
        </thead>
        <tbody>
          {pairs.map(([name, pair]) => (
            <tr key={name} data-pair={name} data-same={pair.same || undefined}>
              <th scope="row">{name}</th>
              <ValueCell value={pair.a} />
              <ValueCell value={pair.b} />
              {isMeasured && (
                <>
                  <td data-number>{pair.difference === undefined ? "" : signed(pair.difference)}</td>
                  <td data-number>{pair.relative === undefined ? "" : percent(pair.relative)}</td>
                </>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function ValueCell({ value }: { readonly value: Json | undefined }) {
  if (value === undefined) return <td className={css["none"]}>not there</td>
  const { text, whole } = cellText(value)
  return (
    <td>
      <span data-tip={whole ?? undefined}>{text}</span>
    </td>
  )
}

export function TimingTable({ facts }: { readonly facts: RunComparison }) {
  const { a, b } = facts.duration_seconds
  return (
    <section className={css["part"]} aria-labelledby="timing">
      <h2 id="timing">Timing</h2>
      <div className={css["scroll"]} role="region" aria-label="Timing" tabIndex={0}>
        <table className={css["pairs"]} aria-label="Timing">
          <thead>
            <tr>
              <th scope="col">Cell</th>
              <th scope="col" data-number>
                a
              </th>
              <th scope="col" data-number>
                b
              </th>
              <th scope="col" data-number>
                change
              </th>
            </tr>
          </thead>
          <tbody>
            <TimeRow label="In all" a={secondsOf(a)} b={secondsOf(b)} isSum />
            {facts.timing.map(({ cell, label, a_number: was, b_number: is, a_seconds: before, b_seconds: after }) => (
              <TimeRow key={`${cell} ${was}`} label={`${is ?? was ?? ""} ${label}`} a={before} b={after} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

/** Below this, how much longer something took is chance. */
const NOTICED_SECONDS = 0.1

function TimeRow({ label, a, b, isSum = false }: { readonly label: string; readonly a: number | null; readonly b: number | null; readonly isSum?: boolean }) {
  const isTold = a !== null && b !== null && a > 0 && Math.max(a, b) >= NOTICED_SECONDS
  return (
    <tr data-sum={isSum || undefined}>
      <th scope="row">{label}</th>
      <td data-number>{a === null ? "" : duration(a)}</td>
      <td data-number>{b === null ? "" : duration(b)}</td>
      <td data-number>{isTold ? percent((b - a) / a) : ""}</td>
    </tr>
  )
}

function secondsOf(value: Json | undefined): number | null {
  return typeof value === "number" ? value : null
}
