/** One proposal in the list: who asks, for whom, why, each part with a box, and the answers. */

import { useEffect, useId, useRef, useState } from "react"
import type { KeyboardEvent } from "react"
import type { Proposal, ProposalId } from "../core/types.gen.ts"
import { visible } from "../core/visible.ts"
import { useAsked, useField, useValue } from "../hooks/values.ts"
import { findProposal } from "../sync/api_proposals.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Button } from "../ui/Button.tsx"
import { TextField } from "../ui/Field.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Time } from "../ui/Time.tsx"
import { accept, decline } from "./decide.ts"
import { modelOf } from "./model.ts"
import { PartRow } from "./PartRow.tsx"
import css from "./Proposals.module.css"
import { Reason } from "./Reason.tsx"
import { proposalView, useProposal } from "./view.ts"
import type { ProposalView } from "./view.ts"
import { askedBy, named, verdictWords, wants, whyNotWords } from "./words.ts"

interface Props {
  readonly context: PageContext
  readonly id: ProposalId
}

export function Card({ context, id }: Props) {
  const view = useProposal(context, id)
  const proposal = useField(context.live, "proposals").get(id)
  const element = useCardFocus(context, id)
  const isAsked = useAsked(context.panelItem, (asked) => asked?.item === id)
  const headId = useId()
  if (!proposal) return null
  const isOpen = view !== null && proposal.state === "open"
  return (
    <article
      ref={element}
      className={css["card"]}
      data-proposal={id}
      data-state={proposal.state}
      data-autofocus={isAsked || undefined}
      tabIndex={-1}
      aria-labelledby={headId}
      onKeyDown={(event) => press(event, context, id, isOpen)}
    >
      {isOpen ? <OpenCard context={context} view={view} headId={headId} /> : <DecidedCard context={context} id={id} proposal={proposal} headId={headId} />}
    </article>
  )
}

/** The card that somebody went to has the focus, once it is there. */
function useCardFocus({ panelItem }: PageContext, id: ProposalId) {
  const element = useRef<HTMLElement>(null)
  const asked = useValue(panelItem)
  useEffect(() => {
    if (asked?.panel !== "proposals" || asked.item !== id) return undefined
    // The row that the page goes to takes the focus in this frame: the card comes after it.
    const frame = requestAnimationFrame(() => {
      element.current?.focus({ preventScroll: true })
      element.current?.scrollIntoView({ block: "nearest" })
    })
    return () => cancelAnimationFrame(frame)
  }, [asked, id])
  return element
}

function press(event: KeyboardEvent<HTMLElement>, context: PageContext, id: ProposalId, isOpen: boolean): void {
  const target = event.target as HTMLElement
  if (!isOpen || event.ctrlKey || event.metaKey || event.altKey || target.closest("input:not([type=checkbox]), textarea")) return
  const key = event.key.toLowerCase()
  if (key === "y") acceptCard(context, id)
  else if (key === "n") declineCard(context, id)
  else if (key === "arrowdown" || key === "arrowup") walk(event.currentTarget, key === "arrowdown" ? 1 : -1)
  else return
  event.preventDefault()
}

/** From box to box; the card itself comes before the first. */
function walk(card: HTMLElement, step: 1 | -1): void {
  const boxes = [...card.querySelectorAll<HTMLInputElement>("input[type=checkbox]:not(:disabled)")]
  const place = boxes.indexOf(document.activeElement as HTMLInputElement)
  const next = place < 0 ? (step > 0 ? 0 : -1) : place + step
  ;(boxes[next] ?? card).focus()
}

/** Accept what is chosen of a proposal. */
export function acceptCard(context: PageContext, id: ProposalId | null): void {
  const view = id === null ? null : proposalView(context, id).get()
  if (!view) return
  if (view.whyNot !== null) return void context.notify({ text: whyNotWords(view.whyNot, view.proposal, context.open.me.actor) })
  if (!view.isPossible) return void context.notify({ text: "Nothing is chosen that can be accepted." })
  void accept(context, view.id, view.selection)
}

/** Ask, on its card, for the word with which a proposal is declined. */
export function declineCard(context: PageContext, id: ProposalId | null): void {
  const view = id === null ? null : proposalView(context, id).get()
  if (!view) return
  if (view.whyNot !== null) return void context.notify({ text: whyNotWords(view.whyNot, view.proposal, context.open.me.actor) })
  if (!document.querySelector(`[data-proposal="${CSS.escape(view.id)}"]`)) context.openPanel("proposals", view.id)
  modelOf(context).declined.set(view.id)
}

// ---- One that waits

interface OpenCardProps {
  readonly context: PageContext
  readonly view: ProposalView
  readonly headId: string
}

function OpenCard({ context, view, headId }: OpenCardProps) {
  const { id, proposal, parts } = view
  const me = context.open.me.actor
  const fault = useAsked(modelOf(context).faults, (faults) => faults.get(id) ?? null)
  return (
    <>
      <header className={css["head"]}>
        <h3 id={headId}>
          <Icon name={proposal.by.startsWith("agent:") ? "robot" : "person"} size={14} />
          <span>
            {askedBy(proposal, me)} {wants(proposal)}
          </span>
        </h3>
        <p className={css["why"]}>
          <Reason proposal={proposal} me={me} />
        </p>
        <p className={css["when"]}>
          <Time at={proposal.at} />
          {proposal.expires_at !== null && <> · expires {until(proposal.expires_at)}</>}
        </p>
      </header>
      <ol className={css["parts"]} aria-label="Parts">
        {parts.map((part) => (
          <PartRow key={part.number} context={context} view={view} part={part} />
        ))}
      </ol>
      {fault && (
        <p className={css["problem"]} role="alert">
          {fault}
        </p>
      )}
      <Answers context={context} view={view} />
    </>
  )
}

function until(at: string): string {
  return new Date(at).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" })
}

export function Answers({ context, view, isShort = false }: { readonly context: PageContext; readonly view: ProposalView; readonly isShort?: boolean }) {
  const model = modelOf(context)
  const isDeclined = useAsked(model.declined, (declined) => declined === view.id)
  const isBusy = useAsked(model.answered, (answered) => answered !== null)
  const { id, selection, isPossible, isPartial, parts, whyNot } = view
  if (whyNot !== null) return isShort ? null : <p className={css["whyNot"]}>{whyNotWords(whyNot, view.proposal, context.open.me.actor)}</p>
  if (isDeclined && !isShort) return <DeclineForm context={context} view={view} />
  const chosen = parts.filter(({ isChosen }) => isChosen).length
  const hasUnknown = parts.some(({ problem }) => problem?.kind === "unknown")
  return (
    <div className={css["answers"]}>
      <Button kind="primary" keys={isShort ? undefined : "Y"} disabled={isBusy || !isPossible || hasUnknown} onClick={() => void accept(context, id, selection)}>
        {isPartial ? `Accept chosen (${chosen} of ${parts.length})` : "Accept"}
      </Button>
      <Button keys={isShort ? undefined : "N"} disabled={isBusy} onClick={() => declineCard(context, id)}>
        Decline…
      </Button>
      {!isShort && (
        <Button kind="quiet" onClick={() => void import("../sync/api_reviews.ts").then(({ goToReview }) => goToReview(context, { kind: "proposal", log: context.log, proposal: id }))}>
          Review…
        </Button>
      )}
    </div>
  )
}

function DeclineForm({ context, view }: { readonly context: PageContext; readonly view: ProposalView }) {
  const [why, setWhy] = useState("")
  const model = modelOf(context)
  const isBusy = useAsked(model.answered, (answered) => answered !== null)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  const cancel = (): void => {
    model.declined.set(null)
    document.querySelector<HTMLElement>(`[data-proposal="${CSS.escape(view.id)}"]`)?.focus()
  }
  return (
    <form
      className={css["decline"]}
      onSubmit={(event) => {
        event.preventDefault()
        void decline(context, view.id, why.trim())
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return
        event.preventDefault()
        cancel()
      }}
    >
      <TextField ref={field} label={`A word for ${named(view.proposal.by, context.open.me.actor)}`} help="It is kept with the proposal. May be empty." value={why} onChange={(event) => setWhy(event.target.value)} />
      <div className={css["answers"]}>
        <Button kind="danger" type="submit" disabled={isBusy}>
          Decline
        </Button>
        <Button kind="quiet" onClick={cancel}>
          Not now
        </Button>
      </div>
    </form>
  )
}

// ---- One that is decided

function DecidedCard({ context, id, proposal, headId }: Props & { readonly proposal: Proposal; readonly headId: string }) {
  const me = context.open.me.actor
  const made = useMade(context, id)
  return (
    <>
      <header className={css["head"]}>
        <h3 id={headId}>
          {askedBy(proposal, me)} {made ? wants(made).replace("wants", "wanted") : "proposed something"}
        </h3>
        {made && (
          <p className={css["why"]}>
            <Reason proposal={{ by: proposal.by, why: made.why }} me={me} />
          </p>
        )}
      </header>
      <p className={css["verdict"]} data-verdict={proposal.state} role="status">
        <Icon name={proposal.state === "accepted" ? "check" : "cross"} size={14} />
        <span>
          {verdictWords(proposal, me)}
          {proposal.decided_at !== null && (
            <>
              , <Time at={proposal.decided_at} />
            </>
          )}
          {proposal.decided_why && <>: “{visible(proposal.decided_why)}”</>}
        </span>
      </p>
      <div className={css["answers"]}>
        <Button onClick={() => modelOf(context).dismiss(id)}>Dismiss</Button>
      </div>
    </>
  )
}

type Made = Pick<Proposal, "why" | "changes" | "effects">

/** What a decided proposal asked for: remembered, or read from the log. */
function useMade(context: PageContext, id: ProposalId): Made | null {
  const [found, setFound] = useState<Made | null>(null)
  const known = modelOf(context).remembered.get(id)
  useEffect(() => {
    if (known) return undefined
    let isShown = true
    findProposal(context.parts.api, context.log, id).then(
      (made) => isShown && setFound(made),
      () => undefined, // without the server, the outcome has to do
    )
    return () => void (isShown = false)
  }, [context, id, known])
  return known ?? found
}
