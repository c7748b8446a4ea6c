/** The cells that a proposal asks to run: in full, each with the hash that a yes is bound to. */

import { visible } from "../core/visible.ts"
import type { ProposalFound } from "../sync/api_proposals.ts"
import type { ReviewContent } from "../sync/api_reviews.ts"
import css from "./Review.module.css"

interface Props {
  readonly proposal: ProposalFound
  readonly content: ReviewContent | null
  readonly left: ReadonlySet<number>
  readonly onLeave: (numbers: readonly number[], isChosen: boolean) => void
  readonly isSelectable: boolean
}

export function Effects({ proposal, content, left, onLeave, isSelectable }: Props) {
  return (
    <section className={css["box"]} aria-labelledby="effects">
      <h2 id="effects">Cells to run</h2>
      <ul className={css["effects"]}>
        {proposal.effects.map(({ execution, cell, source, source_hash: hash }, index) => {
          const number = proposal.changes.length + index
          const row = content?.rows.find((each) => each.cell === cell)
          const text = source ?? row?.new?.source ?? ""
          const name = row?.name ?? (row?.new ? `cell ${row.new.number}` : "code without a cell")
          return (
            <li key={execution}>
              <label>
                <input type="checkbox" checked={!left.has(number)} disabled={!isSelectable} onChange={(event) => onLeave([number], event.target.checked)} />
                Run {visible(name)}
              </label>
              <pre tabIndex={0} role="group" aria-label={`Code of ${visible(name)}`}>
                <code>{visible(text)}</code>
              </pre>
              <p className={css["soft"]}>sha256 {hash.slice(0, 12)}</p>
            </li>
          )
        })}
      </ul>
    </section>
  )
}
