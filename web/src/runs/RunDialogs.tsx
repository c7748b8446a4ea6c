/** The windows of the table: run again with other parameters, and cancel with a reason. */

import { Suspense, useState } from "react"
import type { ComponentType } from "react"

import type { LogId } from "../core/types.gen.ts"
import { copyText } from "../outputs/copy_text.ts"
import type { RunRow } from "../sync/api_runs.ts"
import { Fault } from "../sync/fault.ts"
import type { OpenParts } from "../sync/open.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { TextField } from "../ui/Field.tsx"
import { Icon } from "../ui/Icon.tsx"
import { notify } from "../ui/Toasts.tsx"
import css from "./Runs.module.css"

/** The form of parameters, which is another screen's. */
export type RunAgainForm = ComponentType<{
  readonly parts: OpenParts
  readonly notebook: LogId
  readonly run: LogId
  readonly onStarted: (run: LogId) => void
  readonly onClose: () => void
}>

export type RunDialog = { readonly kind: "again"; readonly row: RunRow } | { readonly kind: "cancel"; readonly row: RunRow }

export interface RunDialogsProps {
  readonly dialog: RunDialog | null
  readonly parts: OpenParts
  readonly RunAgainForm: RunAgainForm
  readonly onStarted: (run: LogId) => void
  readonly onClose: () => void
}

export function RunDialogs({ dialog, parts, RunAgainForm, onStarted, onClose }: RunDialogsProps) {
  if (dialog === null) return null
  if (dialog.kind === "cancel") return <CancelDialog row={dialog.row} parts={parts} onClose={onClose} />
  const { row } = dialog
  const { notebook } = row.again
  if (notebook === null) return <CommandDialog row={row} onClose={onClose} />
  return (
    <Dialog isOpen title={`Run ${row.name} again`} onClose={onClose}>
      <Suspense fallback={null}>
        <RunAgainForm parts={parts} notebook={notebook} run={row.log} onStarted={onStarted} onClose={onClose} />
      </Suspense>
    </Dialog>
  )
}

function CommandDialog({ row, onClose }: { readonly row: RunRow; readonly onClose: () => void }) {
  const { command } = row.again
  return (
    <Dialog
      isOpen
      title={`Run ${row.name} again`}
      onClose={onClose}
      footer={
        <>
          {command && (
            <Button icon={<Icon name="copy" />} onClick={() => void copyText(command).then(() => notify({ text: "Copied." }))}>
              Copy
            </Button>
          )}
          <Button kind="primary" onClick={onClose}>
            Close
          </Button>
        </>
      }
    >
      {command ? (
        <>
          <p>
            No notebook is bound to <code>{row.source.path}</code>, so it is run from a terminal:
          </p>
          <pre className={css["command"]} tabIndex={0}>
            {command}
          </pre>
          <p>Open the file on the home page to run it from here next time.</p>
        </>
      ) : (
        <p>The notebook that was run is not there for you. Open the run: its cells can be run again in place.</p>
      )}
    </Dialog>
  )
}

function CancelDialog({ row, parts, onClose }: { readonly row: RunRow; readonly parts: OpenParts; readonly onClose: () => void }) {
  const [why, setWhy] = useState("")
  const [fault, setFault] = useState<string | null>(null)
  const cancel = async (): Promise<void> => {
    try {
      await parts.api.cancelRun(row.log, why.trim())
      onClose()
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      setFault(error.message)
    }
  }
  return (
    <Dialog
      isOpen
      title={`Cancel ${row.name}?`}
      onClose={onClose}
      onSubmit={() => void cancel()}
      footer={
        <>
          <Button onClick={onClose}>Keep it running</Button>
          <Button kind="danger" type="submit">
            Cancel the run
          </Button>
        </>
      }
    >
      <p>The cell that runs is interrupted. What was shown and recorded until then stays.</p>
      <TextField label="Why (optional)" help="Recorded with the run." maxLength={1000} value={why} error={fault} onChange={(event) => setWhy(event.target.value)} />
    </Dialog>
  )
}
