/** The parameters of a notebook as a form that starts a run, and the run that it started. */

import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react"
import type { SubmitEvent } from "react"

import { liveCells } from "../core/notebook.ts"
import type { Cell, Notebook, Run } from "../core/types.gen.ts"
import { useField, useValue } from "../hooks/values.ts"
import { Fault } from "../sync/fault.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Button } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Facts, PanelBody, PanelButtons, PanelNote, PanelSection } from "../ui/Panel.tsx"
import { readForm } from "./fields.ts"
import { ParameterField } from "./ParameterField.tsx"
import css from "./Params.module.css"
import { parameterFacts, resultFacts } from "./results.ts"
import { formOf } from "./run_form.ts"
import { RunProgress } from "./RunProgress.tsx"
import type { Parameter } from "./typed.ts"

export function ParametersPanel({ context }: { readonly context: PageContext }) {
  const run = useField(context.live, "run")
  return <PanelBody>{run ? <OfRun context={context} run={run} /> : <ParametersForm context={context} />}</PanelBody>
}

/** A run has its parameters already: they are shown, with what it came to. */
function OfRun({ context, run }: { readonly context: PageContext; readonly run: Run }) {
  useField(context.live, "results")
  const given = parameterFacts(run.parameters)
  const results = resultFacts(context.live.store.get())
  return (
    <>
      <PanelSection title="Parameters of this run">
        {given.length ? <Facts facts={given} /> : <PanelNote>It ran with the defaults.</PanelNote>}
      </PanelSection>
      {results.length > 0 && (
        <PanelSection title="Results">
          <Facts facts={results} />
        </PanelSection>
      )}
    </>
  )
}

function ParametersForm({ context }: { readonly context: PageContext }) {
  const form = formOf(context.live)
  const typed = useValue(form.typed)
  const fault = useValue(form.fault)
  const isStarting = useValue(form.isStarting)
  const { parameters, readFault } = useParameters(context)
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  const [isSent, setSent] = useState(false)
  const element = useRef<HTMLFormElement>(null)
  const type = useCallback((name: string, text: string) => form.type(name, text), [form])
  const leave = useCallback((name: string) => setLeft((before) => new Set(before).add(name)), [])

  if (readFault) return <PanelNote kind="error">{readFault.message}</PanelNote>
  if (!parameters) return null
  const { values, faults } = readForm(parameters, typed)
  const start = (event: SubmitEvent): void => {
    event.preventDefault()
    setSent(true)
    const wrong = Object.keys(faults)[0]
    if (wrong === undefined) void form.start(context, values)
    else element.current?.querySelector<HTMLElement>(`[name="${CSS.escape(wrong)}"]`)?.focus()
  }
  const refused = typeof fault?.details["parameter"] === "string" ? fault.details["parameter"] : null
  const isShown = (name: string): boolean => isSent || (left.has(name) && typed[name] !== undefined)
  return (
    <>
      <form ref={element} className={css["form"]} aria-label="Run with parameters" noValidate onSubmit={start}>
        {parameters.length === 0 && <Undeclared />}
        {parameters.map((parameter) => (
          <ParameterField
            key={parameter.name}
            parameter={parameter}
            typed={typed[parameter.name]}
            error={errorOf(parameter.name, isShown(parameter.name), faults, refused === parameter.name ? fault : null)}
            onType={type}
            onLeave={leave}
          />
        ))}
        {fault && refused === null && <PanelNote kind="error">{fault.message}</PanelNote>}
        <PanelButtons>
          <Button
            kind="primary"
            type="submit"
            icon={<Icon name="play" />}
            disabled={!context.mayRun || isStarting}
            title={context.mayRun ? undefined : "You may not run this notebook."}
          >
            {isStarting ? "Starting…" : "Start a run"}
          </Button>
          {Object.keys(typed).length > 0 && (
            <Button
              kind="quiet"
              onClick={() => {
                form.reset()
                setSent(false)
              }}
            >
              Defaults
            </Button>
          )}
        </PanelButtons>
        <PanelNote>A run is a copy with a kernel and a page of its own. This notebook stays as it is.</PanelNote>
      </form>
      <RunProgress context={context} form={form} />
      <PanelNote>
        <a href={`/runs?notebook=${encodeURIComponent(context.log)}`}>All runs of this notebook</a>
      </PanelNote>
    </>
  )
}

function errorOf(
  name: string,
  isShown: boolean,
  faults: Readonly<Record<string, string>>,
  refused: Fault | null,
): string | null {
  if (isShown && faults[name]) return faults[name]
  return refused?.message ?? null
}

function Undeclared() {
  return (
    <PanelNote>
      This notebook declares no parameters. Give a code cell the tag <code>parameters</code>: each of its names becomes a
      field here.
    </PanelNote>
  )
}

/** The parameters as the server reads them from what is recorded; read again when their cell changed. */
function useParameters(context: PageContext): { readonly parameters: readonly Parameter[] | null; readonly readFault: Fault | null } {
  const { live, log, parts } = context
  const [parameters, setParameters] = useState<readonly Parameter[] | null>(null)
  const [readFault, setReadFault] = useState<Fault | null>(null)
  const subscribe = useCallback((listener: () => void) => live.store.subscribe("cells", listener), [live])
  const source = useSyncExternalStore(subscribe, () => parameterCell(live.store.get())?.source)
  const metadata = useField(live, "metadata")
  const isRecorded = useValue(live.waiting) === 0
  useEffect(() => {
    if (!isRecorded) return
    let isGone = false
    const set = (read: readonly Parameter[] | null, fault: Fault | null): void => {
      if (isGone) return
      setParameters(read)
      setReadFault(fault)
    }
    parts.api.parameters(log).then(
      (read) => set(read, null),
      (error: unknown) => set(null, asFault(error)),
    )
    return () => {
      isGone = true
    }
  }, [parts, log, source, metadata, isRecorded])
  return { parameters, readFault }
}

function asFault(error: unknown): Fault {
  return error instanceof Fault ? error : new Fault({ kind: "Unavailable", message: String(error) })
}

/** The cell that declares parameters: the first code cell with the tag. */
function parameterCell(notebook: Notebook): Cell | undefined {
  return liveCells(notebook).find(({ kind, tags }) => kind === "code" && tags.includes("parameters"))
}
