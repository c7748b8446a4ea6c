/** Pause an agent: which one, why, and whether what it runs is interrupted with it. */

import { useState } from "react"

import { pause } from "../sync/api_pauses.ts"
import { Fault } from "../sync/fault.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { pausesOf } from "../sync/pauses.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { CheckField, SelectField, TextField } from "../ui/Field.tsx"
import { nameOf } from "../ui/Person.tsx"
import css from "./Agents.module.css"
import { isAgent, workersOf } from "./workers.ts"

export interface PauseDialogProps {
  readonly context: PageContext
  /** Null: it is chosen here. */
  readonly actor: string | null
  readonly onClose: () => void
}

export function PauseDialog({ context, actor, onClose }: PauseDialogProps) {
  const { live, parts, notify } = context
  const paused = pausesOf(parts).paused.get()
  const agents = workersOf(live.store.get())
    .map((worker) => worker.actor)
    .filter((each) => isAgent(each) && !paused.some((pause) => pause.actor === each))
  const [chosen, setChosen] = useState(actor ?? agents[0] ?? "")
  const [why, setWhy] = useState("")
  const [interrupt, setInterrupt] = useState(true)
  const [fault, setFault] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const name = nameOf(chosen)
  const submit = async (): Promise<void> => {
    setBusy(true)
    try {
      const { stopped } = await pause(parts.api, { actor: chosen }, { why, interrupt })
      notify({ text: `${name} is paused.${stopped ? ` ${stopped === 1 ? "One thing" : `${stopped} things`} that it ran will stop.` : ""}` })
      await pausesOf(parts).read()
      onClose()
    } catch (error) {
      setFault(error instanceof Fault || error instanceof Error ? error.message : String(error))
      setBusy(false)
    }
  }
  return (
    <Dialog
      isOpen
      title={chosen === "" ? "Pause an agent" : `Pause ${name}`}
      onClose={onClose}
      onSubmit={() => void submit()}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="danger" type="submit" disabled={chosen === "" || isBusy}>
            Pause
          </Button>
        </>
      }
    >
      {chosen === "" ? (
        <p>No agent that goes on has worked in this notebook. Tokens are paused in Settings.</p>
      ) : (
        <div className={css["form"]}>
          {actor === null && agents.length > 1 && (
            <SelectField
              label="Agent"
              value={chosen}
              choices={agents.map((each) => ({ value: each, label: nameOf(each) }))}
              onChange={(event) => setChosen(event.target.value)}
            />
          )}
          <p>Everything that {name} asks for is refused, with your reason, until it is resumed. It reads nothing new, either.</p>
          <TextField label="Why (it is told this)" value={why} maxLength={500} data-autofocus onChange={(event) => setWhy(event.target.value)} />
          <CheckField label="Also interrupt what it runs" checked={interrupt} onChange={setInterrupt} />
          {fault !== null && (
            <p role="alert" className={css["soft"]}>
              {fault}
            </p>
          )}
        </div>
      )}
    </Dialog>
  )
}
