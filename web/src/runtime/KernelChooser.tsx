/** Which kernel and which interpreter run the notebook, and starting it. */

import { useEffect, useState } from "react"

import type { KernelChoice, KernelInfo } from "../sync/api_types.ts"
import { Fault } from "../sync/fault.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Button } from "../ui/Button.tsx"
import { SelectField } from "../ui/Field.tsx"
import { Icon } from "../ui/Icon.tsx"
import { PanelButtons, PanelNote, PanelSection } from "../ui/Panel.tsx"

export function KernelChooser({ context, isRunning }: { readonly context: PageContext; readonly isRunning: boolean }) {
  const { parts, log, mayRun } = context
  const [choice, setChoice] = useState<KernelChoice | null>(null)
  const [wanted, setWanted] = useState<string | null>(null)
  const [fault, setFault] = useState<string | null>(null)
  const [isStarting, setStarting] = useState(false)
  useEffect(() => {
    let isGone = false
    parts.api.kernels(log).then(
      (read) => isGone || setChoice(read),
      (error: unknown) => isGone || setFault(messageOf(error)),
    )
    return () => {
      isGone = true
    }
  }, [parts, log, isRunning])

  const chosen = wanted ?? choice?.chosen ?? ""
  const info = choice?.kernels.find(({ name }) => name === chosen)
  const isOther = choice !== null && chosen !== choice.chosen
  const start = async (): Promise<void> => {
    setStarting(true)
    setFault(null)
    try {
      if (isRunning) await parts.api.stopRuntime(log)
      await parts.api.startRuntime(log, isOther ? { kernel: chosen } : {})
      setChoice(await parts.api.kernels(log))
      setWanted(null)
    } catch (error) {
      setFault(messageOf(error))
    } finally {
      setStarting(false)
    }
  }
  return (
    <PanelSection title="Kernel and environment">
      {choice && choice.kernels.length > 0 && (
        <SelectField
          label="Run with"
          help={info ? helpOf(info) : undefined}
          error={info?.problem ?? null}
          value={chosen}
          disabled={!mayRun}
          choices={choice.kernels.map((each) => ({ value: each.name, label: labelOf(each) }))}
          onChange={(event) => setWanted(event.target.value)}
        />
      )}
      {fault !== null && <PanelNote kind="error">{fault}</PanelNote>}
      {(!isRunning || isOther) && (
        <PanelButtons>
          <Button
            icon={<Icon name="play" />}
            disabled={!mayRun || isStarting || Boolean(info?.problem)}
            onClick={() => void start()}
          >
            {isStarting ? "Starting…" : isRunning ? "Stop and start with this one" : "Start"}
          </Button>
        </PanelButtons>
      )}
    </PanelSection>
  )
}

function labelOf({ title, problem }: KernelInfo): string {
  return problem === null ? title : `${title} (cannot be started)`
}

function helpOf({ interpreter, language }: KernelInfo): string {
  return interpreter ?? language
}

function messageOf(error: unknown): string {
  return error instanceof Fault ? error.message : String(error)
}
