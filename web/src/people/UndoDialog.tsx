/** Undo all of one actor: since when, what is taken back, and what others did that depends on it and stays. */

import { useEffect, useId, useState } from "react"

import { planUndo, undoPlanned } from "../sync/api_undo.ts"
import type { UndoPlan } from "../sync/api_undo.ts"
import { Fault } from "../sync/fault.ts"
import type { Live } from "../sync/live.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { seenOf } from "../sync/seen.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { SelectField, TextField } from "../ui/Field.tsx"
import { nameOf } from "../ui/Person.tsx"
import css from "./Agents.module.css"
import { dialogsOf } from "./dialogs.ts"
import { momentChoices, momentTitle, spanOf } from "./moment_choices.ts"
import type { LastLook, MomentName } from "./moment_choices.ts"
import { UndoLists } from "./UndoLists.tsx"

export interface UndoDialogProps {
  readonly context: PageContext
  readonly actor: string
  readonly onClose: () => void
}

interface Planned {
  readonly plan: UndoPlan | null
  readonly fault: string | null
}

const NOTHING: Planned = { plan: null, fault: null }

export function UndoDialog({ context, actor, onClose }: UndoDialogProps) {
  const { live, log, parts, notify, clock } = context
  const [opened] = useState(() => ({ seq: dialogsOf(live).openedAt, now: clock.now(), look: lastLook(live) }))
  const [moment, setMoment] = useState<MomentName>("all")
  const [number, setNumber] = useState("")
  const [attempt, setAttempt] = useState(0)
  const [{ plan, fault }, setPlanned] = useState(NOTHING)
  const [isBusy, setBusy] = useState(false)
  const [hasMoved, setMoved] = useState(false)
  const status = useId()
  const name = actor === context.open.me.actor ? "yours" : nameOf(actor)
  const title = momentTitle(moment, { look: opened.look, number })
  useEffect(() => {
    let isShown = true
    const set = (planned: Planned): void => void (isShown && setPlanned(planned))
    set(NOTHING)
    const span = spanOf(moment, { ...opened, number })
    if (span === null) return void set({ plan: null, fault: "Write the number of an event: 0 or more." })
    planUndo(parts.api, log, actor, span).then(
      (made) => set({ plan: made, fault: null }),
      (error: unknown) => set({ plan: null, fault: messageOf(error) }),
    )
    return () => void (isShown = false)
  }, [parts, log, actor, moment, number, opened, attempt])
  const submit = async (): Promise<void> => {
    if (!plan?.changes?.length || isBusy) return
    setBusy(true)
    try {
      const done = await undoPlanned(parts.api, log, plan)
      notify({ text: done.proposed ? `The undo of ${name} is proposed: somebody has to say yes.` : `Undone: all of ${name} ${title}.` })
      onClose()
    } catch (error) {
      setBusy(false)
      if (!(error instanceof Fault) || error.status !== 409) return void setPlanned({ plan, fault: messageOf(error) })
      setMoved(true)
      setAttempt(attempt + 1)
    }
  }
  const isEmpty = plan !== null && !plan.changes?.length
  return (
    <Dialog
      isOpen
      size="wide"
      title={`Undo all of ${name} ${title}`}
      onClose={onClose}
      onSubmit={() => void submit()}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="danger" type="submit" disabled={!plan?.changes?.length || isBusy}>
            Undo
          </Button>
        </>
      }
    >
      <div className={css["form"]}>
        <SelectField
          label="Since when"
          value={moment}
          choices={momentChoices(opened)}
          data-autofocus
          onChange={(event) => setMoment(event.target.value as MomentName)}
        />
        {moment === "number" && (
          <TextField
            label="Event number"
            inputMode="numeric"
            value={number}
            help="What was done after this event is taken back. The History panel shows the numbers."
            onChange={(event) => setNumber(event.target.value)}
          />
        )}
      </div>
      <div className={css["plan"]} id={status} aria-live="polite">
        {hasMoved && <p role="alert">Cells were changed meanwhile, so nothing was undone. This is what it would take back now.</p>}
        {fault !== null && <p role="alert">{fault}</p>}
        {plan === null && fault === null && <p className={css["soft"]}>Looking at what was done…</p>}
        {isEmpty && <p>Nothing of {name} is left to undo {title}.</p>}
        {plan !== null && !isEmpty && <UndoLists context={context} plan={plan} name={name} />}
      </div>
    </Dialog>
  )
}

/** When this person last looked, if others did something since. */
function lastLook(live: Live): LastLook | null {
  const news = seenOf(live).news.get()
  return news && { seq: news.since.seq, at: news.at }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
