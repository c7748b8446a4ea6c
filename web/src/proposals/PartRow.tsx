/** One change or effect of a proposal, with its box: what it would do now, or why it cannot be. */

import { useEffect, useId, useState } from "react"
import { earlierEdits, previewProposal } from "../core/proposal_preview.ts"
import { sourceHash } from "../core/hash.ts"
import { textEntries } from "../sync/api_proposals.ts"
import { Fault } from "../sync/fault.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Difference, Code } from "./Differences.tsx"
import { modelOf } from "./model.ts"
import css from "./Proposals.module.css"
import { tick } from "./view.ts"
import type { PartView, ProposalView } from "./view.ts"
import { carriedWords, cellName, changeWords, effectWords, listed, problemWords } from "./words.ts"

interface Props {
  readonly context: PageContext
  readonly view: ProposalView
  readonly part: PartView
}

export function PartRow({ context, view, part }: Props) {
  const id = useId()
  const { number, change, effect, problem, isChosen, isBlocked, bases, carried, isOverlapping } = part
  const me = context.open.me.actor
  const notebook = context.live.confirmed
  const name = (cell: string): string => cellName(notebook, view.after, cell)
  const title = change ? changeWords(change, name) : effect ? effectWords(effect, name) : ""
  const others = bases.map((base) => view.parts[base]).flatMap((base) => (base?.change ? [changeWords(base.change, name)] : []))
  return (
    <li className={css["part"]} data-part={number} data-blocked={isBlocked || undefined} data-void={problem?.kind === "void" || undefined}>
      <div className={css["box"]}>
        <input
          id={id}
          type="checkbox"
          checked={isChosen}
          disabled={isBlocked || view.whyNot !== null}
          aria-describedby={`${id}-notes`}
          onChange={(event) => tick(modelOf(context), view, number, event.target.checked)}
        />
        <label htmlFor={id}>{title}</label>
      </div>
      <div id={`${id}-notes`} className={css["notes"]}>
        {problem && <p className={css["problem"]}>{problemWords(problem, name, me)}</p>}
        {isBlocked && !problem && <p className={css["problem"]}>Builds on a part that cannot be applied.</p>}
        {carried.length > 0 && !problem && <p className={css["carried"]}>{carriedWords(carried, me)}.</p>}
        {isOverlapping && <p className={css["problem"]}>Both changed the same place: read what comes of it.</p>}
        {others.length > 0 && <p>Chosen together with: {listed(others)}.</p>}
      </div>
      <PartBody context={context} view={view} part={part} title={title} />
    </li>
  )
}

function PartBody({ context, view, part, title }: Props & { readonly title: string }) {
  const { change, effect, problem, before, after } = part
  if (effect) {
    if (problem?.kind === "void") return <VoidEffect context={context} view={view} part={part} />
    const source = effect.source ?? after?.source ?? null
    return source === null ? null : <Code source={source} hash={effect.source_hash} label={`${title}: what would run`} />
  }
  switch (change?.type) {
    case "source_edited":
      if (problem) return typeof change.text === "string" ? <Code source={change.text} hash={sourceHash(change.text)} label="The text that was proposed" /> : null
      return <Difference before={before?.source ?? ""} after={after?.source ?? ""} label={title} />
    case "cell_added":
      return <Difference before="" after={change.source ?? ""} label={title} />
    case "cell_removed":
      return problem ? null : <Difference before={before?.source ?? ""} after="" label={title} />
    default:
      return null
  }
}

/** What was proposed to run beside what is there now. */
function VoidEffect({ context, view, part }: Props) {
  const proposed = useProposedSource(context, view, part)
  const now = part.after?.source ?? ""
  if (proposed === null) return null
  const kind = part.effect?.cell_kind ?? "code"
  return (
    <>
      {part.after && part.after.kind !== kind && <p className={css["notes"]}>The cell is {part.after.kind} now; {kind} was to run.</p>}
      <Difference before={proposed} after={now} label="Between what was proposed to run and what would be there now" />
    </>
  )
}

/** The text that an effect showed when it was proposed: of the notebook as it was then, after the proposal's own changes. */
function useProposedSource(context: PageContext, { proposal }: ProposalView, { number, effect }: PartView): string | null {
  const [source, setSource] = useState<string | null>(null)
  useEffect(() => {
    let isShown = true
    const look = async (): Promise<string | null> => {
      const { log, parts } = context
      const bases = proposal.changes.flatMap((change) => (change.type === "source_edited" && typeof change.base === "number" ? [change.base] : []))
      const [notebook, entries] = await Promise.all([
        parts.api.notebook(log, { seq: proposal.seq, outputs: 0 }),
        textEntries(parts.api, log, Math.min(proposal.seq, ...bases), proposal.seq),
      ])
      const then = previewProposal(notebook, proposal, null, (cell, base) => earlierEdits(entries, cell, base))
      return then.parts.get(number)?.after?.source ?? null
    }
    look().then(
      (found) => isShown && setSource(found),
      (error: unknown) => {
        if (!(error instanceof Fault)) throw error
      },
    )
    return () => void (isShown = false)
  }, [context, proposal, number, effect])
  return source
}
