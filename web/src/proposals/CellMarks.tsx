/** What proposals show at cells: who wants what, the difference in the place of the source, and cells that would be new. */

import { memo } from "react"
import { openProposals, shownAnchor } from "../core/proposals.ts"
import type { Cell, CellChange, CellId, ProposalId } from "../core/types.gen.ts"
import { visible } from "../core/visible.ts"
import { useField } from "../hooks/values.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Button } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Answers } from "./Card.tsx"
import { Difference } from "./Differences.tsx"
import css from "./Proposals.module.css"
import { useProposal } from "./view.ts"
import type { PartView, ProposalView } from "./view.ts"
import { Reason } from "./Reason.tsx"
import { askedBy, carriedWords, cellName, changeWords, effectWords, problemWords, wants } from "./words.ts"

interface CellProps {
  readonly context: PageContext
  readonly cell: Cell
}

function useIds({ live }: PageContext): ProposalId[] {
  return openProposals({ proposals: useField(live, "proposals") }).map(([id]) => id)
}

/** Above a cell: a line for each proposal that is about it. */
export function CellLines({ context, cell }: CellProps) {
  return useIds(context).map((id) => <CellLine key={id} context={context} id={id} cell={cell.id} />)
}

function CellLine({ context, id, cell }: { readonly context: PageContext; readonly id: ProposalId; readonly cell: CellId }) {
  const view = useProposal(context, id)
  const own = view?.parts.filter((part) => (part.change ?? part.effect)?.cell === cell && part.change?.type !== "cell_added") ?? []
  if (!view || own.length === 0) return null
  return (
    <div className={css["line"]} data-proposal-line={id}>
      <Head context={context} view={view} cell={cell} />
      <ul className={css["said"]}>
        {own.map((part) => (
          <PartLine key={part.number} context={context} view={view} part={part} />
        ))}
      </ul>
    </div>
  )
}

/** Who wants what: whole at the first cell of a proposal, and short at the others. */
function Head({ context, view, cell }: { readonly context: PageContext; readonly view: ProposalView; readonly cell: CellId }) {
  const { id, proposal } = view
  const who = askedBy(proposal, context.open.me.actor)
  const isFirst = firstShown(context, view) === cell
  return (
    <div className={css["lineHead"]}>
      <p>
        <Icon name={proposal.by.startsWith("agent:") ? "robot" : "person"} size={14} />
        {isFirst ? (
          <span>
            {who} {wants(proposal)}
            {" · "}
            <Reason proposal={proposal} me={context.open.me.actor} />
          </span>
        ) : (
          <span className={css["same"]}>
            {who.replace(/,$/, "")} · the same proposal{proposal.why && `: ${visible(proposal.why)}`}
          </span>
        )}
      </p>
      <div className={css["lineButtons"]}>
        {isFirst && isAllAt(view, cell) && <Answers context={context} view={view} isShort />}
        <Button kind={isFirst && !isAllAt(view, cell) ? "plain" : "quiet"} onClick={() => context.openPanel("proposals", id)}>
          Review
        </Button>
      </div>
    </div>
  )
}

/** Whether all that a proposal asks for is seen at one cell: nobody says yes here to what stands elsewhere, or to a run. */
function isAllAt({ parts }: ProposalView, cell: CellId): boolean {
  return parts.every(({ change }) => change?.cell === cell)
}

/** The first cell, from top to bottom, at which a proposal shows. */
function firstShown({ live }: PageContext, { after, parts }: ProposalView): CellId | undefined {
  const cells = live.store.get().cells
  const shown = new Set(parts.flatMap(({ change, effect }) => {
    const cell = (change ?? effect)?.cell
    return cell !== undefined && (change?.type === "cell_added" || cells.get(cell)?.removed === false) ? [cell] : []
  }))
  return after.order.find((cell) => shown.has(cell))
}

function PartLine({ context, view, part }: { readonly context: PageContext; readonly view: ProposalView; readonly part: PartView }) {
  const me = context.open.me.actor
  const name = (cell: CellId): string => cellName(context.live.confirmed, view.after, cell)
  const { change, effect, problem, carried, isChosen } = part
  const words = change ? changeWords(change, name) : effect ? effectWords(effect, name) : ""
  return (
    <li data-blocked={part.isBlocked || undefined}>
      {words}
      {!isChosen && !part.isBlocked && <> · left out</>}
      {problem && <> · {problemWords(problem, name, me)}</>}
      {carried.length > 0 && !problem && <> · {carriedWords(carried, me)}</>}
    </li>
  )
}

/** In the place of a source: the difference that each proposal would make to it. */
export function CellDifferences({ context, cell }: CellProps) {
  const proposals = openProposals({ proposals: useField(context.live, "proposals") })
  const ids = proposals.flatMap(([id, { changes }]) => (changes.some((change) => changesText(change, cell.id)) ? [id] : []))
  return ids.map((id) => <CellDifference key={id} context={context} id={id} cell={cell.id} isOneOfMany={ids.length > 1} />)
}

function changesText(change: CellChange | null, cell: CellId): boolean {
  return change?.cell === cell && (change.type === "source_edited" || change.type === "cell_removed")
}

interface CellDifferenceProps {
  readonly context: PageContext
  readonly id: ProposalId
  readonly cell: CellId
  readonly isOneOfMany: boolean
}

const CellDifference = memo(function CellDifference({ context, id, cell, isOneOfMany }: CellDifferenceProps) {
  const view = useProposal(context, id)
  if (!view) return null
  const possible = view.parts.filter(({ change, problem }) => changesText(change, cell) && !problem)
  const isRemoved = possible.some(({ change }) => change?.type === "cell_removed")
  const who = askedBy(view.proposal, context.open.me.actor)
  const source = context.live.confirmed.cells.get(cell)?.source ?? ""
  const after = isRemoved ? "" : (possible.at(-1)?.after?.source ?? source)
  return (
    <div className={css["inCell"]} data-removed={isRemoved || undefined}>
      {isOneOfMany && (
        <p className={css["caption"]}>
          {who.replace(/,$/, "")}: {visible(view.proposal.why) || wants(view.proposal)}
        </p>
      )}
      <Difference before={source} after={after} label={`What ${who} would change here`} isWhole />
    </div>
  )
})

/** Behind a cell, or at the top: cells that would be new there. */
export function NewCells({ context, after }: { readonly context: PageContext; readonly after: CellId | null }) {
  return useIds(context).map((id) => <NewCellsOf key={id} context={context} id={id} after={after} />)
}

function NewCellsOf({ context, id, after }: { readonly context: PageContext; readonly id: ProposalId; readonly after: CellId | null }) {
  const view = useProposal(context, id)
  useField(context.live, "order")
  if (!view) return null
  const notebook = context.live.store.get()
  const parts = view.parts.filter(({ change }) => change?.type === "cell_added" && shownAnchor(notebook, view.proposal, change.cell) === after)
  const order = view.after.order
  const sorted = parts.toSorted((one, other) => order.indexOf(one.change?.cell ?? "") - order.indexOf(other.change?.cell ?? ""))
  return sorted.map((part) => <NewCell key={part.number} context={context} view={view} part={part} isInList={after !== null} />)
}

interface NewCellProps {
  readonly context: PageContext
  readonly view: ProposalView
  readonly part: PartView
  /** Whether it stands among the cells, and not above them. */
  readonly isInList: boolean
}

function NewCell({ context, view, part, isInList }: NewCellProps) {
  const cell = part.change?.cell ?? ""
  const related = view.parts.filter(({ change, effect }) => (change ?? effect)?.cell === cell)
  const source = view.after.cells.get(cell)?.source ?? (part.change?.type === "cell_added" ? (part.change.source ?? "") : "")
  return (
    <div role={isInList ? "listitem" : "group"} className={css["newCell"]} data-new-cell={cell} data-proposal-line={view.id} aria-label="A proposed cell">
      <Head context={context} view={view} cell={cell} />
      <ul className={css["said"]}>
        {related.map((each) => (
          <PartLine key={each.number} context={context} view={view} part={each} />
        ))}
      </ul>
      <Difference before="" after={source} label="The proposed cell" isWhole />
    </div>
  )
}
