/**
 * How an act on cells is taken back: by events that are made from the notebook as it was before, and as it is now.
 *
 * What others did since stays: text is taken back by an edit that moved out of the way of theirs, and a name, kind, tag or
 * key only as long as it is the one that was set. An output is never taken back.
 */

import { apply, compose, difference, invert, transform } from "../core/text.ts"
import type { ActorId, Cell, CellChange, CellId, Edit, Json, Notebook } from "../core/types.gen.ts"
import { sourceHash } from "../core/hash.ts"

/** The way back from one change of a cell; null when the notebook has moved on and there is none. */
export type Back = ((now: Notebook) => CellChange | null) | TextBack

/** Who asks: what only this person wrote may go. */
export interface Undoer {
  readonly actor: ActorId
}

/** The ways back from an act, the last change first. `before` is the notebook on which the act was done. */
export function waysBack(before: Notebook, events: readonly CellChange[], me: Undoer): Back[] {
  let now = before
  const backs: Back[] = []
  const edits = new Map<CellId, Edit>()
  for (const event of events) {
    if (event.type === "source_edited") {
      const edit = editOf(now.cells.get(event.cell)?.source ?? "", event)
      edits.set(event.cell, compose(edits.get(event.cell) ?? [], edit))
    } else backs.unshift(wayBack(now, event, me))
    now = after(now, event)
  }
  const texts = [...edits].map(([cell, edit]) => new TextBack(cell, before.cells.get(cell)?.source ?? "", edit))
  return [...backs, ...texts]
}

/** The events that take an act back, as the notebook is now. */
export function takeBack(now: Notebook, backs: readonly Back[]): CellChange[] {
  const events: CellChange[] = []
  let next = now
  for (const back of backs) {
    const event = back instanceof TextBack ? back.change(next) : back(next)
    if (!event) continue
    events.push(event)
    next = after(next, event)
  }
  return events
}

/**
 * The way back from an edit of a text. It is told of every edit that is made after, and moves out of its way; a place
 * where nothing is left of what the edit wrote stays as it is now.
 */
export class TextBack {
  readonly cell: CellId
  /** One for each place. */
  #backs: readonly Edit[]

  constructor(cell: CellId, before: string, edit: Edit) {
    this.cell = cell
    this.#backs = invert(before, edit).map((splice) => [splice])
  }

  /** Move out of the way of an edit that was made after. */
  follow(edit: Edit): void {
    this.#backs = this.#backs.flatMap((back) => {
      const [moved] = transform(back, edit)
      return removedBy(back) > 0 && removedBy(moved) === 0 ? [] : [moved]
    })
  }

  change(now: Notebook): CellChange | null {
    const edit = this.#backs.flat().toSorted(([one], [other]) => one - other)
    if (now.cells.get(this.cell)?.removed !== false || !edit.length) return null
    return { type: "source_edited", cell: this.cell, edit }
  }
}

function removedBy(edit: Edit): number {
  return edit.reduce((sum, [, removed]) => sum + removed, 0)
}

type OtherChange = Exclude<CellChange, { type: "source_edited" }>

function wayBack(before: Notebook, event: OtherChange, me: Undoer): Back {
  const cell = before.cells.get(event.cell)
  switch (event.type) {
    case "cell_added":
      return (now) => removal(now, event.cell, me)
    case "cell_removed":
      return (now) => (cell ? addition(now, cell, anchorOf(before, event.cell)) : null)
    case "cell_moved":
      return (now) => movement(now, event.cell, anchorOf(before, event.cell))
    case "cell_kind_changed":
      return (now) => {
        const isMine = cell && now.cells.get(event.cell)?.kind === event.kind
        return isMine ? { type: "cell_kind_changed", cell: event.cell, kind: cell.kind } : null
      }
    case "cell_named":
      return (now) => {
        const isMine = cell && now.cells.get(event.cell)?.name === event.name
        return isMine ? { type: "cell_named", cell: event.cell, name: cell.name } : null
      }
    case "cell_tagged":
      return (now) => {
        const isMine = cell && isSameJson(now.cells.get(event.cell)?.tags ?? [], event.tags)
        return isMine ? { type: "cell_tagged", cell: event.cell, tags: cell.tags } : null
      }
    case "cell_metadata_set":
      return (now) => (cell ? metadataBack(now, cell, event) : null)
  }
}

/** A cell that was added goes, unless somebody else wrote in it. */
function removal(now: Notebook, id: CellId, me: Undoer): CellChange | null {
  const cell = now.cells.get(id)
  if (!cell || cell.removed || (cell.edited_by !== me.actor && cell.source !== "")) return null
  return { type: "cell_removed", cell: id, base_hash: sourceHash(cell.source) }
}

/** A cell that was removed comes back where it was, with what was typed into it since. */
function addition(now: Notebook, before: Cell, after: CellId | null): CellChange | null {
  const gone = now.cells.get(before.id)
  if (gone && !gone.removed) return null
  const { id, kind, name, tags, metadata } = gone ?? before
  const source = gone?.source ?? before.source
  return { type: "cell_added", cell: id, after: known(now, after), kind, source, name, tags, metadata }
}

function movement(now: Notebook, id: CellId, after: CellId | null): CellChange | null {
  return now.cells.get(id)?.removed === false ? { type: "cell_moved", cell: id, after: known(now, after) } : null
}

function metadataBack(now: Notebook, before: Cell, event: Extract<CellChange, { type: "cell_metadata_set" }>): CellChange | null {
  const metadata = now.cells.get(event.cell)?.metadata ?? {}
  const touched = [...Object.keys(event.values ?? {}), ...(event.removed ?? [])]
  const mine = touched.filter((key) => isSameJson(metadata[key] ?? null, event.values?.[key] ?? null))
  if (!mine.length) return null
  const values = Object.fromEntries(mine.flatMap((key) => (key in before.metadata ? [[key, before.metadata[key] as Json]] : [])))
  return { type: "cell_metadata_set", cell: event.cell, values, removed: mine.filter((key) => !(key in before.metadata)) }
}

/** The edit that an event is on a text; some events have the whole new text. */
function editOf(source: string, { edit, text }: Extract<CellChange, { type: "source_edited" }>): Edit {
  return edit ?? (typeof text === "string" ? difference(source, text) : [])
}

/** The cell, removed or not, that stands before another. */
export function anchorOf(notebook: Notebook, id: CellId): CellId | null {
  const place = notebook.order.indexOf(id)
  return place > 0 ? (notebook.order[place - 1] ?? null) : null
}

/** The anchor, if it is still in the order. */
function known(now: Notebook, anchor: CellId | null): CellId | null {
  return anchor !== null && now.order.includes(anchor) ? anchor : null
}

/** The notebook after a change, as far as ways back look at it. */
function after(now: Notebook, event: CellChange): Notebook {
  const cell = now.cells.get(event.cell)
  const put = (fields: Partial<Cell>): Notebook =>
    cell ? { ...now, cells: new Map(now.cells).set(cell.id, { ...cell, ...fields }) } : now
  switch (event.type) {
    case "cell_added":
      return { ...put({ removed: false }), order: placed(now.order, event.cell, event.after) }
    case "cell_moved":
      return { ...now, order: placed(now.order, event.cell, event.after) }
    case "cell_removed":
      return put({ removed: true })
    case "source_edited":
      return put({ source: apply(cell?.source ?? "", editOf(cell?.source ?? "", event)) })
    case "cell_kind_changed":
      return put({ kind: event.kind })
    case "cell_named":
      return put({ name: event.name })
    case "cell_tagged":
      return put({ tags: event.tags })
    case "cell_metadata_set":
      return put({ metadata: { ...cell?.metadata, ...event.values } })
  }
}

function placed(order: readonly CellId[], cell: CellId, anchor: CellId | null): CellId[] {
  const rest = order.filter((id) => id !== cell)
  rest.splice(anchor === null ? 0 : rest.indexOf(anchor) + 1, 0, cell)
  return rest
}

function isSameJson(one: Json, other: Json): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
