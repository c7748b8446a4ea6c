/**
 * A notebook as it is: the values that a log folds to, and how they are read from JSON and written to it.
 *
 * In memory every field is there and what is looked up by key is a Map; JSON leaves out what has its default. Nobody
 * changes a value but `reduce`.
 */

import { DEFAULTS, RUNS } from "./types.gen.ts"
import type { Cell, CellId, CellState, Execution, ExecutionId, Json, JsonObject, Notebook, Output } from "./types.gen.ts"

/** The fields of a notebook that are maps. */
export const MAPS = [
  "cells",
  "executions",
  "displays",
  "definers",
  "runtimes",
  "results",
  "proposals",
  "comments",
  "conflicts",
] as const satisfies readonly (keyof Notebook)[]

/** A log without entries. */
export function emptyNotebook(): Notebook {
  return readNotebook({})
}

// ---- Questions

/** The state a person sees. */
export function cellState(cell: Cell): CellState {
  if (cell.execution?.state === "running") return "running"
  if (cell.queued) return "queued"
  const last = cell.missed ?? cell.execution
  if (!last) return "never_run"
  // It has ended: one that is open either runs or waits.
  return last.state === "claimed" ? "queued" : last.state
}

/** Whether a runtime can execute it. */
export function runs(cell: Cell): boolean {
  return (RUNS as readonly string[]).includes(cell.kind)
}

/** Whether anything more can happen to an execution. */
export function isOpen(execution: Execution): boolean {
  return execution.state === "queued" || execution.state === "claimed" || execution.state === "running"
}

/** The cells a person sees, from top to bottom. */
export function liveCells(notebook: Notebook): Cell[] {
  return notebook.order.flatMap((id) => {
    const cell = notebook.cells.get(id)
    return cell && !cell.removed ? [cell] : []
  })
}

/** The open execution of that id. */
export function openExecution(notebook: Notebook, id: ExecutionId): Execution | null {
  const cell = notebook.cells.get(notebook.executions.get(id) ?? "")
  if (cell?.execution?.id === id) return cell.execution
  return cell?.queued?.id === id ? cell.queued : null
}

/** The cell of that id. Total on accepted events: one that is not there is a fault of the log. */
export function cellOf(notebook: Notebook, id: CellId | undefined): Cell {
  const cell = id === undefined ? undefined : notebook.cells.get(id)
  if (!cell) throw new Error(`There is no cell ${JSON.stringify(id)} in ${JSON.stringify(notebook.name)}.`)
  return cell
}

// ---- JSON

type Fields = Readonly<Record<string, unknown>>
type Convert = (value: Fields) => unknown

/** What `GET /api/notebooks/{log}` answers, as a value. */
export function readNotebook(json: JsonObject): Notebook {
  const read: Record<string, unknown> = { ...DEFAULTS.Notebook, ...json }
  const inner: Record<string, Convert> = {
    cells: readCell,
    runtimes: (value) => ({ ...DEFAULTS.Runtime, ...value }),
    results: (value) => ({ ...DEFAULTS.Result, ...value }),
    proposals: (value) => ({ ...DEFAULTS.Proposal, ...value }),
    comments: (value) => ({ ...DEFAULTS.Comment, ...value }),
  }
  for (const name of MAPS) {
    const convert = inner[name]
    const entries = Object.entries(read[name] as Fields)
    read[name] = new Map(convert ? entries.map(([key, value]) => [key, convert(value as Fields)]) : entries)
  }
  if (read["run"]) read["run"] = { ...DEFAULTS.Run, ...(read["run"] as Fields) }
  if (read["review"]) read["review"] = { ...DEFAULTS.Review, ...(read["review"] as Fields) }
  if (read["binding"]) read["binding"] = { ...DEFAULTS.Binding, ...(read["binding"] as Fields) }
  return read as unknown as Notebook
}

function readCell(json: Fields): Fields {
  const cell: Record<string, unknown> = { ...DEFAULTS.Cell, ...json }
  for (const name of ["execution", "queued", "missed"]) {
    if (cell[name]) cell[name] = { ...DEFAULTS.Execution, ...(cell[name] as Fields) }
  }
  return cell
}

/** An execution as the server writes it, as a value. */
export function readExecution(json: object): Execution {
  return { ...DEFAULTS.Execution, ...(json as Execution) }
}

/** The notebook as JSON, as the server writes it: what has its default is left out. */
export function writeNotebook(notebook: Notebook): JsonObject {
  const convert: Record<string, (value: never) => unknown> = {
    cells: writeCell,
    run: (value) => without(DEFAULTS.Run, value, { fault: writeFault, source: writeRunSource, widgets: writeBlob }),
    review: (value) => without(DEFAULTS.Review, value),
    binding: (value) => without(DEFAULTS.Binding, value),
    runtimes: (value) => without(DEFAULTS.Runtime, value),
    results: (value) => without(DEFAULTS.Result, value, { blob: writeBlob }),
    proposals: (value) => without(DEFAULTS.Proposal, value),
    comments: (value) => without(DEFAULTS.Comment, value),
  }
  const maps: readonly string[] = MAPS
  const written: [string, unknown][] = Object.entries(notebook).map(([name, value]) => {
    const inner = convert[name] as ((value: unknown) => unknown) | undefined
    if (!maps.includes(name)) return [name, inner && value ? inner(value) : value]
    const entries = [...(value as ReadonlyMap<string, unknown>)]
    return [name, Object.fromEntries(inner ? entries.map(([key, each]) => [key, inner(each)]) : entries)]
  })
  return without(DEFAULTS.Notebook, Object.fromEntries(written)) as JsonObject
}

function writeCell(cell: Cell): Fields {
  const execution = writeExecution as unknown as Convert
  return without(DEFAULTS.Cell, cell, { execution, queued: execution, missed: execution })
}

function writeExecution(execution: Execution): Fields {
  return without(DEFAULTS.Execution, execution, {
    outputs: (outputs) => (outputs as unknown as readonly Output[]).map(writeOutput),
    fault: writeFault,
  })
}

function writeOutput(output: Output): unknown {
  switch (output.kind) {
    case "display":
      return without(DEFAULTS.Display, output, {
        blobs: (blobs) => Object.fromEntries(Object.entries(blobs).map(([name, blob]) => [name, writeBlob(blob as Fields)])),
      })
    case "stream":
      return without(DEFAULTS.Stream, output, { blob: writeBlob })
    case "error":
      return without(DEFAULTS.Raised, output)
  }
}

const writeFault: Convert = (value) => without(DEFAULTS.Fault, value)
const writeBlob: Convert = (value) => without(DEFAULTS.BlobRef, value)
const writeRunSource: Convert = (value) => without(DEFAULTS.RunSource, value)

function without(defaults: Fields, value: object, inner: Readonly<Record<string, Convert>> = {}): Fields {
  const kept = Object.entries(value).filter(([name, each]) => each !== undefined && !isDefault(defaults, name, each))
  return Object.fromEntries(
    kept.map(([name, each]: [string, unknown]) => {
      const convert = inner[name]
      return [name, convert && each ? convert(each as Fields) : each]
    }),
  )
}

function isDefault(defaults: Fields, name: string, value: unknown): boolean {
  if (!Object.hasOwn(defaults, name)) return false
  const usual = defaults[name]
  if (typeof usual !== "object" || usual === null) return usual === value
  return typeof value === "object" && value !== null && isEmpty(value)
}

function isEmpty(value: object): boolean {
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0
}

/** A value as JSON that reads the same whatever the order of its keys. */
export function canonical(value: unknown): Json {
  if (Array.isArray(value)) return value.map(canonical)
  if (typeof value !== "object" || value === null) return value as Json
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(entries.map(([key, each]) => [key, canonical(each)]))
}
