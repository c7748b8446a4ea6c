/** The parameters of a notebook for people who read it: a form that starts a run, and how far the run is that they look at. */

import { useCallback, useEffect, useRef, useState } from "react"
import type { SubmitEvent } from "react"

import type { LogId, Notebook, Run } from "../core/types.gen.ts"
import { Fault } from "../sync/fault.ts"
import type { OpenParts } from "../sync/open.ts"
import { Button } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { duration } from "../ui/relative_time.ts"
import { StateMark } from "../ui/StateMark.tsx"
import { initialText, readForm } from "./fields.ts"
import type { Typed } from "./fields.ts"
import { ParameterField } from "./ParameterField.tsx"
import css from "./ReadingForm.module.css"
import { ENDS, faultText, markOf } from "./RunProgress.tsx"
import { isOver, progressOf } from "./run_watch.ts"
import type { Parameter } from "./typed.ts"

export interface ReadingFormProps {
  readonly parts: OpenParts
  /** The notebook that is run. */
  readonly source: LogId
  /** The run that is looked at, and its log. */
  readonly run: { readonly log: LogId; readonly notebook: Notebook } | null
  readonly mayRun: boolean
  readonly onStarted: (run: LogId) => void
}

export default function ReadingForm({ parts, source, run, mayRun, onStarted }: ReadingFormProps) {
  const parameters = useParameters(parts, source)
  return (
    <>
      {run?.notebook.run && <RunStatus parts={parts} log={run.log} notebook={run.notebook} run={run.notebook.run} />}
      {mayRun && parameters && (
        <ParametersForm key={run?.log ?? source} parts={parts} source={source} parameters={parameters} given={run?.notebook.run ?? null} onStarted={onStarted} />
      )}
    </>
  )
}

/** What the notebook takes; null until it is known, or where it cannot be. */
function useParameters({ api }: OpenParts, source: LogId): readonly Parameter[] | null {
  const [parameters, setParameters] = useState<readonly Parameter[] | null>(null)
  useEffect(() => {
    let isGone = false
    api.parameters(source).then(
      (read) => isGone || setParameters(read),
      () => isGone || setParameters(null),
    )
    return () => {
      isGone = true
    }
  }, [api, source])
  return parameters
}

interface FormProps extends Pick<ReadingFormProps, "parts" | "source" | "onStarted"> {
  readonly parameters: readonly Parameter[]
  /** The run whose values stand in the fields at first. */
  readonly given: Run | null
}

function ParametersForm({ parts, source, parameters, given, onStarted }: FormProps) {
  const [typed, setTyped] = useState<Typed>(() => textsOf(parameters, given))
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  const [isSent, setSent] = useState(false)
  const [isStarting, setStarting] = useState(false)
  const [fault, setFault] = useState<Fault | null>(null)
  const element = useRef<HTMLFormElement>(null)
  const type = useCallback((name: string, text: string) => setTyped((before) => ({ ...before, [name]: text })), [])
  const leave = useCallback((name: string) => setLeft((before) => new Set(before).add(name)), [])
  const { values, faults } = readForm(parameters, typed)
  const start = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    setSent(true)
    const [wrong] = Object.keys(faults)
    if (wrong !== undefined) return void element.current?.querySelector<HTMLElement>(`[name="${CSS.escape(wrong)}"]`)?.focus()
    setStarting(true)
    setFault(null)
    parts.api.startRun(source, { parameters: values }).then(
      ({ run }) => onStarted(run),
      (error: unknown) => {
        setStarting(false)
        setFault(error instanceof Fault ? error : new Fault({ kind: "Unavailable", message: String(error) }))
      },
    )
  }
  const refused = typeof fault?.details["parameter"] === "string" ? fault.details["parameter"] : null
  const errorOf = (name: string): string | null => {
    const isShown = isSent || (left.has(name) && typed[name] !== undefined)
    if (isShown && faults[name]) return faults[name]
    return refused === name ? (fault?.message ?? null) : null
  }
  return (
    <form ref={element} className={css["form"]} aria-label="Run with parameters" noValidate onSubmit={start}>
      {parameters.length > 0 && (
        <div className={css["fields"]}>
          {parameters.map((parameter) => (
            <ParameterField
              key={parameter.name}
              parameter={parameter}
              typed={typed[parameter.name]}
              error={errorOf(parameter.name)}
              onType={type}
              onLeave={leave}
            />
          ))}
        </div>
      )}
      {fault && refused === null && (
        <p className={css["fault"]} role="alert">
          {fault.message}
        </p>
      )}
      <Button kind="primary" type="submit" icon={<Icon name="play" />} disabled={isStarting}>
        {isStarting ? "Starting…" : parameters.length ? "Run with these values" : "Run it"}
      </Button>
    </form>
  )
}

/** The values of a run, as they stand in the fields. */
function textsOf(parameters: readonly Parameter[], given: Run | null): Typed {
  const texts = parameters.flatMap((parameter) => {
    const value = given?.parameters[parameter.name]
    return value === undefined ? [] : [[parameter.name, initialText({ ...parameter, default: value, required: false, expression: null })]]
  })
  return Object.fromEntries(texts) as Typed
}

// ---- The run

function RunStatus({ parts, log, notebook, run }: { readonly parts: OpenParts; readonly log: LogId; readonly notebook: Notebook; readonly run: Run }) {
  const [problem, setProblem] = useState<string | null>(null)
  const isEnded = isOver(notebook)
  const { done, all } = progressOf(notebook)
  const stop = (): void => {
    parts.api.cancelRun(log).catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)))
  }
  const me = parts.socket.welcome.get()?.me.actor
  return (
    <div className={css["run"]} data-run={run.status}>
      <p className={css["status"]} role="status">
        <StateMark state={markOf(notebook)} text="" />
        <span>{wordsOf(run, done, all)}</span>
        {!isEnded && run.by === me && <Button onClick={stop}>Stop</Button>}
      </p>
      {!isEnded && <progress className={css["progress"]} max={Math.max(1, all)} value={done} aria-label="Cells that have run" />}
      {run.fault && <p className={css["fault"]}>{faultText(run)}</p>}
      {problem !== null && (
        <p className={css["fault"]} role="alert">
          {problem}
        </p>
      )}
    </div>
  )
}

function wordsOf({ status, started_at: started, finished_at: finished }: Run, done: number, all: number): string {
  if (status === "queued" || status === "claimed") return "Waits for a runtime."
  if (status === "running") return `Running: ${done} of ${all} cells`
  const seconds = started && finished ? (Date.parse(finished) - Date.parse(started)) / 1000 : null
  return `${ENDS[status]}${seconds === null ? "" : `, took ${duration(seconds)}`}`
}
