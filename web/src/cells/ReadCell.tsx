/** A cell that is read: its text as it reads, what it showed, and who ran it; by the components of the notebook's page. */

import { memo, useMemo } from "react"

import { attachmentsOf } from "../actions/cell_edits.ts"
import { sourceHash } from "../core/hash.ts"
import { runs } from "../core/notebook.ts"
import type { Cell, Execution } from "../core/types.gen.ts"
import { StaticCode } from "../editor/StaticCode.tsx"
import type { OutputContext } from "../outputs/context.ts"
import { errorLine } from "../outputs/error_line.ts"
import { MarkdownText } from "../outputs/MarkdownText.tsx"
import { Outputs } from "../outputs/Outputs.tsx"
import { Person } from "../ui/Person.tsx"
import { duration } from "../ui/relative_time.ts"
import { Time } from "../ui/Time.tsx"
import { cellLanguage, took } from "./words.ts"

interface TextProps {
  readonly cell: Cell
  /** Of the notebook's code. */
  readonly language: string
  readonly context: OutputContext
}

/** Markdown as it reads, code in colours, with a mark on the line that failed. */
export const CellText = memo(function CellText({ cell, language, context }: TextProps) {
  const { execution, source, kind } = cell
  const attachments = useMemo(() => attachmentsOf(cell), [cell])
  const marks = useMemo(() => {
    const line = execution?.source_hash === sourceHash(source) ? errorLine(execution) : null
    return line === null ? [] : [{ line, kind: "error" as const }]
  }, [execution, source])
  if (kind === "markdown") return <MarkdownText source={source} attachments={attachments} context={context} />
  return <StaticCode source={source} language={cellLanguage(cell, language)} marks={marks} />
})

/** What it showed. Where the page does not follow the log, what ran then stands still. */
export function CellShown({ cell, context, isLive = false }: Omit<TextProps, "language"> & { readonly isLive?: boolean }) {
  const { execution } = cell
  const isRunning = isLive && execution?.state === "running"
  if (!execution || !runs(cell) || (!execution.outputs.length && !isRunning)) return null
  return <Outputs cell={cell.id} execution={execution} context={context} isRunning={isRunning} />
}

/** "ada · 2 min ago · 1.3 s"; of a run, who started it. */
export function CellRan({ execution, me }: { readonly execution: Execution; readonly me: string | undefined }) {
  const { by, on_behalf_of: behalf, imported } = execution
  if (imported) return <span>from a file</span>
  const seconds = took(execution)
  const isRuntime = behalf !== null && by.startsWith("runtime:")
  return (
    <span>
      <Person actor={isRuntime ? behalf : by} onBehalfOf={isRuntime ? null : behalf} me={me} plain /> · <Time at={execution.finished_at ?? execution.at} />
      {seconds !== null && <> · {duration(seconds)}</>}
    </span>
  )
}
