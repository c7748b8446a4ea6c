/** A notebook's parameters as a form, filled with those of a run of it: started again with whatever is changed. */

import { useEffect, useRef, useState } from "react"
import type { SubmitEvent } from "react"

import type { Json, JsonObject, LogId } from "../core/types.gen.ts"
import { runRecord } from "../sync/api_runs.ts"
import { Fault } from "../sync/fault.ts"
import type { OpenParts } from "../sync/open.ts"
import { Button } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { PanelButtons, PanelNote } from "../ui/Panel.tsx"
import { givenTexts, readForm } from "./fields.ts"
import type { Typed } from "./fields.ts"
import { ParameterField } from "./ParameterField.tsx"
import css from "./Params.module.css"
import type { Parameter } from "./typed.ts"

export interface RunAgainFormProps {
  readonly parts: OpenParts
  readonly notebook: LogId
  readonly run: LogId
  readonly onStarted: (run: LogId) => void
  readonly onClose: () => void
}

interface Loaded {
  readonly parameters: readonly Parameter[]
  readonly given: JsonObject
}

export default function RunAgainForm({ parts, notebook, run, onStarted, onClose }: RunAgainFormProps) {
  const [loaded, setLoaded] = useState<Loaded | null>(null)
  const [fault, setFault] = useState<string | null>(null)
  useEffect(() => {
    let isGone = false
    Promise.all([parts.api.parameters(notebook), runRecord(parts.api, run)]).then(
      ([parameters, { parameters: given }]) => void (isGone || setLoaded({ parameters, given })),
      (error: unknown) => void (isGone || setFault(messageOf(error))),
    )
    return () => void (isGone = true)
  }, [parts, notebook, run])
  if (fault !== null) return <PanelNote kind="error">{fault}</PanelNote>
  if (!loaded) return null
  const start = async (values: Readonly<Record<string, Json>>): Promise<void> => {
    const started = await parts.api.startRun(notebook, { parameters: values })
    onStarted(started.run)
  }
  return <FilledForm loaded={loaded} onStart={start} onClose={onClose} />
}

interface FilledFormProps {
  readonly loaded: Loaded
  readonly onStart: (values: Readonly<Record<string, Json>>) => Promise<void>
  readonly onClose: () => void
}

function FilledForm({ loaded: { parameters, given }, onStart, onClose }: FilledFormProps) {
  const [typed, setTyped] = useState<Typed>(() => givenTexts(parameters, given))
  const [isSent, setSent] = useState(false)
  const [isStarting, setStarting] = useState(false)
  const [fault, setFault] = useState<string | null>(null)
  const element = useRef<HTMLFormElement>(null)
  const { values, faults } = readForm(parameters, typed)
  const declared = new Set(parameters.map(({ name }) => name))
  // What the notebook does not declare is put in as it was.
  const others = Object.fromEntries(Object.entries(given).filter(([name]) => !declared.has(name)))

  useEffect(() => element.current?.querySelector<HTMLElement>("input, select, textarea, button")?.focus(), [])

  const start = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    setSent(true)
    const wrong = Object.keys(faults)[0]
    if (wrong !== undefined) {
      element.current?.querySelector<HTMLElement>(`[name="${CSS.escape(wrong)}"]`)?.focus()
      return
    }
    setStarting(true)
    setFault(null)
    try {
      await onStart({ ...others, ...values })
    } catch (error) {
      setFault(messageOf(error))
      setStarting(false)
    }
  }
  return (
    <form ref={element} className={css["form"]} aria-label="Run again with parameters" noValidate onSubmit={(event) => void start(event)}>
      {parameters.length === 0 && Object.keys(others).length === 0 && <PanelNote>The notebook takes no parameters. It is run as it is now.</PanelNote>}
      {parameters.map((parameter) => (
        <ParameterField
          key={parameter.name}
          parameter={parameter}
          typed={typed[parameter.name]}
          error={isSent ? (faults[parameter.name] ?? null) : null}
          onType={(name, text) => setTyped((before) => ({ ...before, [name]: text }))}
          onLeave={() => undefined}
        />
      ))}
      {Object.keys(others).length > 0 && <PanelNote>As before, though the notebook does not declare it: {Object.keys(others).join(", ")}.</PanelNote>}
      <PanelNote>The notebook is run as it is now, which may not be as it was then.</PanelNote>
      {fault !== null && <PanelNote kind="error">{fault}</PanelNote>}
      <PanelButtons>
        <Button kind="primary" type="submit" icon={<Icon name="play" />} disabled={isStarting}>
          {isStarting ? "Starting…" : "Start a run"}
        </Button>
        <Button onClick={onClose}>Close</Button>
      </PanelButtons>
    </form>
  )
}

function messageOf(error: unknown): string {
  return error instanceof Fault ? error.message : String(error)
}
