/** The variables of the kernel: name, type and size, read when somebody asks. */

import { useMemo, useState } from "react"

import type { CellId } from "../core/types.gen.ts"
import { useCell, useField } from "../hooks/values.ts"
import { newCell } from "../sync/browser.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Button } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { PanelButtons, PanelNote, PanelSection } from "../ui/Panel.tsx"
import { Time } from "../ui/Time.tsx"
import css from "./Runtime.module.css"
import { bytesText, CODE, readVariables } from "./variables.ts"
import type { Variable } from "./variables.ts"

interface VariablesProps {
  readonly context: PageContext
  /** The id of the runtime to ask. */
  readonly runtime: string
  readonly kernel: string | null
}

/** The scratch cell of the last request, by runtime and kernel: a new kernel has other variables. */
const ASKED = new Map<string, CellId>()

export function Variables({ context, runtime, kernel }: VariablesProps) {
  const key = `${context.log} ${runtime} ${kernel ?? ""}`
  const [asked, setAsked] = useState<CellId | null>(ASKED.get(key) ?? null)
  const [refusal, setRefusal] = useState<string | null>(null)
  const ask = (): void => {
    const { live, parts } = context
    const cell = newCell(live.store.field("cells").keys())
    setRefusal(null)
    setAsked(cell)
    ASKED.set(key, cell)
    live.act([{ type: "scratch_requested", execution: parts.newId(), cell, source: CODE, runtime }], (outcome) => {
      if (outcome.kind === "refused") setRefusal(outcome.fault.message)
      else if (outcome.proposed) setRefusal("It is proposed: it runs once an owner accepts it.")
    })
  }
  return (
    <PanelSection title="Variables">
      {asked === null && (
        <PanelNote>Lists names, types and sizes. It runs a few lines of Python in the kernel, which are on record.</PanelNote>
      )}
      {refusal !== null ? <PanelNote kind="error">{refusal}</PanelNote> : asked && <Listed context={context} cell={asked} />}
      <PanelButtons>
        <Button icon={<Icon name="variable" />} disabled={!context.mayRun} onClick={ask}>
          {asked === null ? "List variables" : "List again"}
        </Button>
      </PanelButtons>
    </PanelSection>
  )
}

function Listed({ context, cell: id }: { readonly context: PageContext; readonly cell: CellId }) {
  const cell = useCell(context.live, id)
  const read = useMemo(() => readVariables(cell), [cell])
  if (read.kind === "waiting") return <PanelNote>Waits for the kernel…</PanelNote>
  if (read.kind === "failed") return <PanelNote kind="error">{read.why}</PanelNote>
  if (read.count === 0) return <PanelNote>No cell has defined anything in this kernel. Run one, then list them again.</PanelNote>
  const data = read.variables.filter(({ kind }) => kind === "data")
  const code = read.variables.filter(({ kind }) => kind !== "data")
  return (
    <>
      {data.length > 0 && <Table context={context} caption="Data" variables={data} />}
      {code.length > 0 && <Table context={context} caption="Functions and classes" variables={code} />}
      <PanelNote>
        {read.count > read.variables.length ? `The first ${read.variables.length} of ${read.count}. ` : ""}
        As of <Time at={read.at} />.
      </PanelNote>
    </>
  )
}

interface TableProps {
  readonly context: PageContext
  readonly caption: string
  readonly variables: readonly Variable[]
}

function Table({ context, caption, variables }: TableProps) {
  const [isBySize, setBySize] = useState(false)
  const definers = useField(context.live, "definers")
  const sorted = isBySize ? variables.toSorted((one, other) => (other.bytes ?? 0) - (one.bytes ?? 0)) : variables
  return (
    <table className={css["variables"]}>
      <caption>{caption}</caption>
      <thead>
        <tr>
          <Head title="Name" isSorted={!isBySize} onSort={() => setBySize(false)} />
          <th scope="col">Type</th>
          <Head title="Size" isSorted={isBySize} onSort={() => setBySize(true)} />
        </tr>
      </thead>
      <tbody>
        {sorted.map((variable) => (
          <tr key={variable.name}>
            <th scope="row">
              <Name context={context} name={variable.name} cell={definers.get(variable.name)} />
            </th>
            <td>
              {variable.type}
              {variable.shape && <span className={css["shape"]}>{variable.shape}</span>}
            </td>
            <td>{bytesText(variable.bytes)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Head({ title, isSorted, onSort }: { readonly title: string; readonly isSorted: boolean; readonly onSort: () => void }) {
  return (
    <th scope="col" aria-sort={isSorted ? (title === "Size" ? "descending" : "ascending") : undefined}>
      <button type="button" onClick={onSort}>
        {title}
      </button>
    </th>
  )
}

/** The name leads to the cell that defined it. */
function Name({ context, name, cell }: { readonly context: PageContext; readonly name: string; readonly cell: CellId | undefined }) {
  const isThere = cell !== undefined && context.live.store.cell(cell)?.removed === false
  if (!isThere) return <code>{name}</code>
  return (
    <button type="button" className={css["name"]} data-tip="Go to the cell that defined it" onClick={() => context.goTo(cell)}>
      <code>{name}</code>
    </button>
  )
}
