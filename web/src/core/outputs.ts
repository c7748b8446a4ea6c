/**
 * How outputs fold: streams, displays and errors of a running execution.
 *
 * A part of `reduce`. A chunk already seen adds nothing, so a runtime may send its spool again (rule 7).
 */

import { cellOf } from "./notebook.ts"
import { pointLength, unitAt } from "./points.ts"
import { INLINE_TEXT } from "./types.gen.ts"
import type {
  Cell,
  CellId,
  DisplayUpdated,
  Execution,
  ExecutionId,
  OutputAdded,
  OutputsCleared,
  Stream,
  StreamAppended,
} from "./types.gen.ts"
import type { WorkingCopy } from "./working_copy.ts"

const HALF = INLINE_TEXT / 2

function unseen(copy: WorkingCopy, id: ExecutionId, chunk: number): [Cell, Execution] | null {
  const cell = cellOf(copy.now, copy.now.executions.get(id))
  return cell.execution && chunk > cell.execution.chunk ? [cell, cell.execution] : null
}

/** An execution shows something. */
export function addOutput(copy: WorkingCopy, event: OutputAdded): void {
  const found = unseen(copy, event.execution, event.chunk)
  if (!found) return
  const [cell, execution] = found
  const outputs = copy.outputs(execution)
  outputs.push(event.output)
  const displayId = event.output.kind === "display" ? event.output.display_id : null
  if (typeof displayId === "string") noteDisplay(copy, displayId, cell.id)
  copy.setCell(cell.id, { execution: { ...execution, outputs, chunk: event.chunk } })
}

function noteDisplay(copy: WorkingCopy, displayId: string, cell: CellId): void {
  const shown = copy.now.displays.get(displayId) ?? []
  if (!shown.includes(cell)) copy.map("displays").set(displayId, [...shown, cell])
}

/** The cell no longer shows the displays of its last execution. */
export function forgetDisplays(copy: WorkingCopy, cell: Cell): void {
  for (const output of cell.execution?.outputs ?? []) {
    if (output.kind !== "display" || typeof output.display_id !== "string") continue
    const shown = copy.now.displays.get(output.display_id)
    if (!shown) continue
    const left = shown.filter((each) => each !== cell.id)
    const displays = copy.map("displays")
    displays.delete(output.display_id)
    if (left.length) displays.set(output.display_id, left)
  }
}

/** An execution prints. */
export function appendStream(copy: WorkingCopy, event: StreamAppended): void {
  const found = unseen(copy, event.execution, event.chunk)
  if (!found) return
  const [cell, execution] = found
  const outputs = copy.outputs(execution)
  const last = outputs.at(-1)
  if (last?.kind === "stream" && last.name === event.name) outputs[outputs.length - 1] = print(last, event)
  else outputs.push(print({ kind: "stream", name: event.name }, event))
  copy.setCell(cell.id, { execution: { ...execution, outputs, chunk: event.chunk } })
}

/** A text and how many code points it has: counted once, although a stream may grow thousands of times. */
interface Measured {
  readonly text: string
  readonly length: number
}

const NOTHING: Measured = { text: "", length: 0 }
/** How many code points head and tail have, beside them: JSON does not show it. */
const LENGTHS = Symbol("lengths")

interface MeasuredStream extends Stream {
  readonly [LENGTHS]?: readonly [head: number, tail: number]
}

function measure(text: string): Measured {
  return { text, length: pointLength(text) }
}

function parts(stream: MeasuredStream): [head: Measured, tail: Measured] {
  const { head = "", tail = "", [LENGTHS]: lengths } = stream
  if (!lengths) return [measure(head), measure(tail)]
  return [
    { text: head, length: lengths[0] },
    { text: tail, length: lengths[1] },
  ]
}

function print(stream: Stream, event: StreamAppended): MeasuredStream {
  let [head, tail] = parts(stream)
  let omitted = stream.omitted ?? 0
  const text = measure(event.text)
  const tailAt = head.length + omitted
  if (event.offset <= head.length) {
    head = joined(first(head, event.offset), text)
    omitted = 0
    tail = NOTHING
  } else if (tailAt <= event.offset && event.offset <= tailAt + tail.length) {
    tail = joined(first(tail, event.offset - tailAt), text)
  } else {
    // Into what is left out, or past the end: what lies between is in the blob only.
    omitted = event.offset - head.length
    tail = text
  }
  ;[head, omitted, tail] = fit(head, omitted, tail)
  return {
    kind: "stream",
    name: stream.name,
    head: head.text,
    omitted,
    tail: tail.text,
    blob: event.blob ?? null,
    [LENGTHS]: [head.length, tail.length],
  }
}

/** Cut a text in its middle to what stays inline. */
function fit(head: Measured, omitted: number, tail: Measured): [Measured, number, Measured] {
  if (head.length + tail.length <= INLINE_TEXT) return [head, omitted, tail]
  if (!omitted) {
    const whole = joined(head, tail)
    return [first(whole, HALF), whole.length - 2 * HALF, last(whole, HALF)]
  }
  const cut = Math.max(0, head.length - HALF) + Math.max(0, tail.length - HALF)
  return [first(head, HALF), omitted + cut, last(tail, HALF)]
}

function joined(one: Measured, other: Measured): Measured {
  return { text: one.text + other.text, length: one.length + other.length }
}

function first(part: Measured, count: number): Measured {
  return count >= part.length ? part : { text: part.text.slice(0, unit(part, count)), length: count }
}

function last(part: Measured, count: number): Measured {
  return count >= part.length ? part : { text: part.text.slice(unit(part, part.length - count)), length: count }
}

function unit(part: Measured, point: number): number {
  return part.length === part.text.length ? point : unitAt(part.text, point)
}

/** Displays of one id show something else. */
export function updateDisplay(copy: WorkingCopy, event: DisplayUpdated): void {
  const found = unseen(copy, event.execution, event.chunk)
  if (!found) return
  const [cell, execution] = found
  copy.setCell(cell.id, { execution: { ...execution, chunk: event.chunk } })
  for (const shown of copy.now.displays.get(event.display_id) ?? []) showAgain(copy, cellOf(copy.now, shown), event)
}

function showAgain(copy: WorkingCopy, cell: Cell, event: DisplayUpdated): void {
  if (!cell.execution) return
  const outputs = copy.outputs(cell.execution)
  const { data = {}, blobs = {}, metadata = {} } = event
  outputs.forEach((output, index) => {
    if (output.kind === "display" && output.display_id === event.display_id) {
      outputs[index] = { ...output, data, blobs, metadata }
    }
  })
  copy.setCell(cell.id, { execution: { ...cell.execution, outputs } })
}

/** An execution takes back what it showed. */
export function clearOutputs(copy: WorkingCopy, event: OutputsCleared): void {
  const found = unseen(copy, event.execution, event.chunk)
  if (!found) return
  const [cell, execution] = found
  forgetDisplays(copy, cell)
  copy.setCell(cell.id, { execution: { ...execution, outputs: [], chunk: event.chunk } })
}
