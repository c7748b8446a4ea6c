/** What an act on cells is as events: pure, from the notebook that is shown. Ids of new cells are arguments. */

import { pointLength, unitAt } from "../core/points.ts"
import type { Cell, CellAdded, CellChange, CellId, CellKind, Edit, Json, JsonObject, Notebook } from "../core/types.gen.ts"
import { sourceHash } from "../core/hash.ts"
import { transform, difference, apply } from "../core/text.ts"
import type { Back } from "./inverse.ts"

/** What is kept of a cell that was cut or copied. */
export interface CopiedCell {
  readonly kind: CellKind
  readonly source: string
  readonly name: string | null
  readonly tags: readonly string[]
  readonly metadata: JsonObject
}

/** Between the texts of cells that become one. */
const SEAM = "\n\n"
/** Where the metadata of a cell keeps what files have beside text: attachments. */
export const FILE_KEY = "quire.file"

export function copied({ kind, source, name, tags, metadata }: Cell): CopiedCell {
  return { kind, source, name, tags, metadata }
}

/** Cells like these, after a cell or (null) at the top. A name that is taken stays with its cell. */
export function additions(
  notebook: Notebook,
  copies: readonly CopiedCell[],
  after: CellId | null,
  newCell: (taken: Iterable<CellId>) => CellId,
): CellAdded[] {
  const taken = new Set(notebook.cells.keys())
  const names = new Set([...notebook.cells.values()].flatMap(({ name, removed }) => (name === null || removed ? [] : [name])))
  let anchor = after
  return copies.map((copy) => {
    const cell = newCell(taken)
    taken.add(cell)
    const name = copy.name !== null && !names.has(copy.name) ? copy.name : null
    if (name !== null) names.add(name)
    const event: CellAdded = { type: "cell_added", cell, after: anchor, ...copy, name }
    anchor = cell
    return event
  })
}

export function removals(cells: readonly CellId[]): CellChange[] {
  return cells.map((cell) => ({ type: "cell_removed", cell }))
}

/** Move cells that stand together by one place. Several stay, and the one beside them goes to their other side. */
export function movements(order: readonly CellId[], cells: readonly CellId[], step: -1 | 1): CellChange[] {
  const [first, last] = [cells[0], cells.at(-1)]
  if (first === undefined || last === undefined) return []
  const [top, bottom] = [order.indexOf(first), order.indexOf(last)]
  if (step < 0) {
    const above = order[top - 1]
    if (above === undefined) return []
    if (cells.length > 1) return [{ type: "cell_moved", cell: above, after: last }]
    return [{ type: "cell_moved", cell: first, after: order[top - 2] ?? null }]
  }
  const below = order[bottom + 1]
  if (below === undefined) return []
  if (cells.length > 1) return [{ type: "cell_moved", cell: below, after: order[top - 1] ?? null }]
  return [{ type: "cell_moved", cell: first, after: below }]
}

/** Put cells, in their order, behind another one or (null) at the top. */
export function placements(cells: readonly CellId[], after: CellId | null): CellChange[] {
  let anchor = after
  return cells.flatMap((cell): CellChange[] => {
    if (cell === anchor) return []
    const event: CellChange = { type: "cell_moved", cell, after: anchor }
    anchor = cell
    return [event]
  })
}

export interface Split {
  readonly events: readonly CellChange[]
  readonly backs: readonly Back[]
}

/** Part a cell at a code point of its source: what stands behind it becomes a cell of its own. */
export function split(cell: Cell, position: number, newCell: CellId): Split {
  const unit = unitAt(cell.source, position)
  const head = cell.source.slice(0, unit).replace(/\n[ \t]*$/, "").replace(/\n$/, "")
  const tail = cell.source.slice(unit).replace(/^[ \t]*\n/, "")
  const from = pointLength(head)
  const cut = pointLength(cell.source) - from
  const edit: Edit = cut ? [[from, cut, ""]] : []
  const { kind, tags, metadata } = cell
  const added: CellChange = { type: "cell_added", cell: newCell, after: cell.id, kind, source: tail, tags, metadata }
  const events: CellChange[] = [...(cut ? [{ type: "source_edited" as const, cell: cell.id, edit }] : []), added]
  return { events, backs: joinBack(cell, head, tail, newCell) }
}

/** The way back from a split: the second cell's text, as it is then, goes back behind the first one's. */
function joinBack(cell: Cell, head: string, tail: string, second: CellId): Back[] {
  const seam = cell.source.slice(head.length, cell.source.length - tail.length)
  return [
    (now) => {
      const [first, other] = [now.cells.get(cell.id), now.cells.get(second)]
      if (!first || !other || other.removed) return null
      const back: Edit = [[pointLength(head), 0, seam + other.source]]
      const [edit] = transform(back, difference(head, first.source))
      return { type: "source_edited", cell: cell.id, edit }
    },
    (now) => {
      const other = now.cells.get(second)
      return other && !other.removed ? { type: "cell_removed", cell: second, base_hash: sourceHash(other.source) } : null
    },
  ]
}

/** Make one cell of several: the first gets the text of all, and their attachments. */
export function merge(cells: readonly Cell[]): CellChange[] {
  const [first, ...rest] = cells
  if (!first || !rest.length) return []
  const text = rest.map((cell) => SEAM + cell.source).join("")
  const edit: Edit = [[pointLength(first.source), 0, text]]
  const gone = rest.map((cell): CellChange => ({ type: "cell_removed", cell: cell.id, base_hash: sourceHash(cell.source) }))
  return [{ type: "source_edited", cell: first.id, edit }, ...mergedFiles(cells), ...gone]
}

function mergedFiles(cells: readonly Cell[]): CellChange[] {
  const [first, ...rest] = cells
  const files = Object.assign({}, ...rest.map(attachmentsOf).reverse()) as JsonObject
  if (!first || !Object.keys(files).length) return []
  return [withAttachments(first, { ...files, ...attachmentsOf(first) })]
}

/** Files inside a cell, by name: `{"plot.png": {"image/png": Base64}}`. */
export function attachmentsOf(cell: Cell): JsonObject {
  return asObject(asObject(cell.metadata[FILE_KEY])["attachments"])
}

/** Give a cell these attachments and no others. */
export function withAttachments(cell: Cell, attachments: JsonObject): CellChange {
  const values = { [FILE_KEY]: { ...asObject(cell.metadata[FILE_KEY]), attachments } }
  return { type: "cell_metadata_set", cell: cell.id, values }
}

/** Cells get a kind. Those that have it are left alone. */
export function kinds(cells: readonly Cell[], kind: CellKind): CellChange[] {
  return cells.filter((cell) => cell.kind !== kind).map((cell) => ({ type: "cell_kind_changed", cell: cell.id, kind }))
}

/** A heading of this level, or of none: the first line of a Markdown cell. */
export function heading(cell: Cell, level: number): CellChange[] {
  const line = cell.source.split("\n", 1)[0] ?? ""
  const text = line.replace(/^#{1,6}\s+/, "")
  const edit = difference(line, `${"#".repeat(level)} ${text}`)
  const change: CellChange = { type: "source_edited", cell: cell.id, edit }
  return [...kinds([cell], "markdown"), ...(apply(line, edit) === line ? [] : [change])]
}

// ---- What is folded away, as Jupyter notes it

export type Part = "source" | "outputs"
const HIDING_TAGS: Record<Part, readonly string[]> = {
  source: ["hide-input", "hide_input", "remove-input", "remove_input"],
  outputs: ["hide-output", "hide_output", "remove-output", "remove_output"],
}

export function isFolded(cell: Cell, part: Part): boolean {
  const said = asObject(cell.metadata["jupyter"])[`${part}_hidden`]
  if (typeof said === "boolean") return said
  return cell.tags.some((tag) => HIDING_TAGS[part].includes(tag))
}

export function folding(cell: Cell, part: Part, isHidden: boolean): CellChange {
  const jupyter = asObject(cell.metadata["jupyter"])
  return { type: "cell_metadata_set", cell: cell.id, values: { jupyter: { ...jupyter, [`${part}_hidden`]: isHidden } } }
}

function asObject(value: Json | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
}
