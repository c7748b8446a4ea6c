/** The card of the tour: one step, beside what it is about. The page stays usable; doing the step goes on to the next. */

import { useEffect, useRef, useSyncExternalStore } from "react"
import type { KeyboardEvent, ReactNode } from "react"

import { useField } from "../hooks/values.ts"
import { agentLetIn } from "../sync/api_sharing.ts"
import { firstQuestion } from "../sync/first_question.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Button, IconButton } from "../ui/Button.tsx"
import { CopyBox } from "../ui/CopyBox.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Kbd } from "../ui/Kbd.tsx"
import { nameOf } from "../ui/Person.tsx"
import { notify } from "../ui/Toasts.tsx"
import { firstCode, isDone, lastRun, noteBefore, openProposal } from "./steps.ts"
import type { Before } from "./steps.ts"
import css from "./Tour.module.css"
import { STEPS, tourOf } from "./tour_state.ts"
import { useAnchor } from "./use_anchor.ts"

interface StepView {
  readonly title: string
  readonly text: ReactNode
  /** The same for screen readers, when the step begins. */
  readonly spoken: string
  /** What the card stands beside: the first of these that is there. */
  readonly targets: readonly string[]
  readonly button?: { readonly label: string; do(): void }
}

export default function Tour({ context, step }: { readonly context: PageContext; readonly step: number }) {
  const tour = tourOf(context)
  const card = useRef<HTMLElement>(null)
  useAdvance(context, step)
  const view = useStepView(context, step)
  useAnchor(card, view.targets, step)
  useEffect(() => {
    if (tour.takeAsked()) card.current?.querySelector<HTMLElement>("[data-first]")?.focus()
  }, [tour, step])
  const leave = (): void => {
    tour.leave()
    if (step < STEPS) notify({ text: "The tour is over. The list of keys, ?, starts it again." })
  }
  useEscape(leave)
  const press = (event: KeyboardEvent): void => {
    if (event.key === "Escape") leave()
    // Letters are commands on the page: not while somebody is in here.
    if (!event.ctrlKey && !event.metaKey) event.stopPropagation()
  }
  const isLast = step >= STEPS
  return (
    <>
      <div className={css["ring"]} aria-hidden="true" data-ring />
      <aside ref={card} className={css["card"]} aria-label="Tour" data-tour={step} onKeyDown={press}>
        <div role="status" className="visually-hidden">
          {isLast ? view.spoken : `Tour, step ${step + 1} of ${STEPS}: ${view.spoken}`}
        </div>
        <header>
          <h2>{view.title}</h2>
          <IconButton label={isLast ? "Close" : "Skip the tour"} icon={<Icon name="cross" size={14} />} onClick={leave} />
        </header>
        <div className={css["text"]}>{view.text}</div>
        <footer>
          <span className={css["count"]}>{isLast ? "" : `${step + 1} of ${STEPS}`}</span>
          {isLast ? (
            <button type="button" className={css["do"]} data-first onClick={leave}>
              Close
            </button>
          ) : (
            <>
              <Button kind="quiet" onClick={leave}>
                Skip
              </Button>
              <Button kind={view.button ? "quiet" : "plain"} onClick={() => tour.go(step + 1)}>
                Next
              </Button>
              {view.button && (
                <button type="button" className={css["do"]} data-first onClick={() => view.button?.do()}>
                  {view.button.label}
                </button>
              )}
            </>
          )}
        </footer>
      </aside>
    </>
  )
}

/** Go on once the person has done what the step is about. */
function useAdvance(context: PageContext, step: number): void {
  const { live, panel, presence } = context
  const before = useRef<{ readonly step: number; readonly seen: Before } | null>(null)
  useEffect(() => {
    const look = (): void => {
      const notebook = live.store.get()
      if (before.current?.step !== step) before.current = { step, seen: noteBefore(notebook, agentLetIn.get()) }
      const seen = { panel: panel.get(), letIn: agentLetIn.get(), present: presence.others.get().map(({ actor }) => actor) }
      if (isDone(step, notebook, seen, before.current.seen)) tourOf(context).go(step + 1)
    }
    look()
    const stops = [
      live.store.subscribe("cells", look),
      live.store.subscribe("proposals", look),
      panel.subscribe(look),
      agentLetIn.subscribe(look),
      presence.others.subscribe(look),
    ]
    return () => stops.forEach((stop) => stop())
  }, [context, live, panel, presence, step])
}

/** Esc on the page leaves the tour; in an editor, a field, a menu or a panel it is for those. */
function useEscape(leave: () => void): void {
  const latest = useRef(leave)
  useEffect(() => void (latest.current = leave))
  useEffect(() => {
    const press = (event: globalThis.KeyboardEvent): void => {
      const target = event.target instanceof Element ? event.target : null
      if (event.key === "Escape" && !target?.closest("dialog, input, textarea, select, .cm-editor, [role=menu], [data-rail-panel]")) latest.current()
    }
    addEventListener("keydown", press)
    return () => removeEventListener("keydown", press)
  }, [])
}

function useStepView(context: PageContext, step: number): StepView {
  const { live } = context
  const proposals = useField(live, "proposals")
  const cell = useSyncExternalStore(
    (listener) => live.store.subscribe("cells", listener),
    () => (step === 0 ? firstCode(live.store.get()) : lastRun(live.store.get())),
  )
  const notebook = live.store.get()
  switch (step) {
    case 0:
      return {
        title: "Run this cell",
        spoken: "Run the first code cell. Press Shift Enter on it.",
        text: (
          <p>
            Click it and press <Kbd keys="Shift-Enter" />. There is nothing to save: all that you type and run is recorded as it happens.
          </p>
        ),
        targets: cell === null ? [] : [`[data-cell="${CSS.escape(cell)}"]`],
        ...(cell === null ? {} : { button: { label: "Run it", do: () => context.run([cell]) } }),
      }
    case 1:
      return {
        title: "See who did what",
        spoken: "The line below the cell says who ran it. Press it for everybody who wrote or ran the cell, and its past versions.",
        text: <p>The line below the cell says who ran it, and when. Press it: you see everybody who wrote or ran the cell, and each past version.</p>,
        targets: cell === null ? [] : [`[data-cell="${CSS.escape(cell)}"] [data-foot]`],
        button: {
          label: "Show it",
          do: () => {
            if (cell !== null) context.goTo(cell)
            context.openPanel("history")
          },
        },
      }
    case 2:
      return {
        title: "Let an agent in",
        spoken: "Let a coding agent in. It gets a token, and the line to paste is shown.",
        text: <p>Claude Code, Codex, Cursor or another coding agent works here under its own name, and asks before it changes or runs anything.</p>,
        targets: ["[data-share]"],
        button: {
          label: "Let one in…",
          do: () => {
            // Where a panel is a sheet over the cells, it would hide what comes next.
            if (matchMedia("(width < 900px)").matches) context.openPanel(null)
            context.doNamed("sharing.agent")
          },
        },
      }
    case 3:
      return { ...proposalView(context), targets: ["[data-proposal-line]", "[data-waiting]"] }
    default:
      return {
        title: "That is all",
        spoken: "That is all. The list of keys starts the tour again.",
        text: (
          <p>
            What you and the agent did is in the notebook&apos;s log, each under a name. <Kbd keys="?" /> lists all keys, and starts this tour again.
          </p>
        ),
        targets: [],
      }
  }

  function proposalView(page: PageContext): Omit<StepView, "targets"> {
    const id = openProposal(notebook)
    const open = id === null ? undefined : proposals.get(id)
    if (id === null || open === undefined) {
      return {
        title: "Ask it for something",
        spoken: "Ask your agent for something. What it proposes appears here.",
        text: (
          <>
            <p>Start your agent with the line that you pasted, and ask it:</p>
            <CopyBox text={firstQuestion(notebook)} label="the question" />
            <p>What it proposes appears here. Nothing changes before your yes.</p>
          </>
        ),
      }
    }
    return {
      title: `${nameOf(open.by)} proposes something`,
      spoken: `${nameOf(open.by)} proposes${open.why ? `: ${open.why}` : " something"}. Accept or decline it.`,
      text: (
        <p>
          {open.why && <q>{open.why}</q>} Read what it would change, then accept or decline it. It is a record: it waits until somebody decides.
        </p>
      ),
      ...(page.hasPanel("proposals") ? { button: { label: "Show it", do: () => page.openPanel("proposals", id) } } : {}),
    }
  }
}
