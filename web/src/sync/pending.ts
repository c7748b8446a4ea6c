/**
 * What was done here and is not recorded yet, in the order in which it was done.
 *
 * An act is one submission: all of it is recorded or none. Acts are shown over the confirmed notebook at once, leave when
 * the log has them, and are taken back when they are refused. Text moves out of the way of what others recorded first:
 * every edit here is always in the coordinates of the confirmed text with the edits before it applied. No clock, no
 * connection, no storage: `live` brings those.
 */

import { appliedEdit, cellChanges } from "../core/events.ts"
import { Fold } from "../core/reduce.ts"
import { apply, compose, difference, invert, isSameEdit, rebase, transform } from "../core/text.ts"
import type { ActorId, CellChange, CellId, Draft, Edit, Entry, EventId, KnownEvent, LogId, Notebook } from "../core/types.gen.ts"
import { CellText } from "./cell_text.ts"
import type { TypedJson } from "./cell_text.ts"
import { predicted } from "./predict.ts"

/** One event of an act, with the id under which it will be recorded. */
export interface Part {
  readonly id: EventId
  readonly event: KnownEvent
}

export interface Act {
  /** Of its first part; the same for as long as it waits. */
  readonly id: EventId
  /** When it was done, and the number that it was expected to get: what is shown stays the same while it waits. */
  readonly at: string
  readonly seq: number
  /** Those that are not recorded yet. Edits are rebased here while they wait. */
  readonly parts: readonly Part[]
  /** Exactly as it was sent, and so it is sent again. */
  readonly sent: readonly Draft[] | null
}

/** As it is kept in storage. */
export interface PendingJson {
  readonly acts: readonly Act[]
  readonly typed: readonly TypedJson[]
}

/** Who acts, for what is shown before the server says so. */
export interface Author {
  readonly log: LogId
  readonly actor: ActorId
  readonly on_behalf_of: ActorId | null
}

/** The confirmed notebook with what waits over it, and the cells that are touched by that. */
export interface Overlaid {
  readonly notebook: Notebook
  readonly touched: Iterable<CellId>
}

/** What changed in the texts that are shown, other than by typing here: by cell, in code points of the text before. */
export type TextChanges = Map<CellId, Edit>
/** The confirmed text of a cell; undefined where there is no such cell. */
export type SourceOf = (cell: CellId) => string | undefined

export class Pending {
  acts: readonly Act[] = []
  readonly typed = new Map<CellId, CellText>()

  static read(json: PendingJson, now: number): Pending {
    const pending = new Pending()
    pending.acts = json.acts
    for (const typed of json.typed) pending.typed.set(typed.cell, new CellText(typed, now))
    return pending
  }

  toJSON(): PendingJson {
    return { acts: this.acts, typed: [...this.typed.values()].map((text) => text.toJSON()) }
  }

  get isEmpty(): boolean {
    return this.acts.length === 0 && this.typed.size === 0
  }

  /** The cells whose text waits here. */
  textCells(): Set<CellId> {
    const cells = new Set(this.typed.keys())
    for (const act of this.acts) for (const cell of textCellsOf(act)) cells.add(cell)
    return cells
  }

  /** Whether an act that changes the text of a cell waits. */
  hasActOn(cell: CellId): boolean {
    return this.acts.some((act) => textCellsOf(act).has(cell))
  }

  // ---- Doing

  add(act: Act): void {
    this.acts = [...this.acts, act]
  }

  /** Turn what was typed into a cell into an act. */
  close(cell: CellId, at: string): void {
    const text = this.typed.get(cell)
    if (!text) return
    this.typed.delete(cell)
    if (text.edit.length === 0) return
    const event: KnownEvent = { type: "source_edited", cell, edit: text.edit }
    this.add({ id: text.id, at, seq: text.seq, parts: [{ id: text.id, event }], sent: null })
  }

  /** Go on with what another window left: behind what is here, each edit moved over those it did not know. */
  append(left: Pending, at: string): void {
    for (const cell of [...this.typed.keys()]) this.close(cell, at)
    for (const cell of [...left.typed.keys()]) left.close(cell, at)
    const known = new Set(this.acts.map((act) => act.id))
    const ours = new Map([...this.textCells()].map((cell) => [cell, this.#edits(cell)]))
    for (const act of left.acts.filter((each) => !known.has(each.id))) {
      this.add(mapEdits(act, (cell, edit) => {
        const [moved, rest] = rebase(edit, ours.get(cell) ?? [])
        ours.set(cell, rest)
        return moved
      }))
    }
  }

  #edits(cell: CellId): Edit[] {
    return this.acts.flatMap((act) => act.parts.flatMap(({ event }) => (isEditOf(event, cell) ? [event.edit ?? []] : [])))
  }

  // ---- Sending

  /**
   * The next act to send, or null: acts go out in order, and one whose text builds on an act that is not recorded waits
   * for it (an edit whose base lacks the sender's own would be rebased over that one a second time).
   */
  next(isUnderWay: (act: Act) => boolean): Act | null {
    const waiting = new Set<CellId>()
    for (const act of this.acts) {
      if (!isUnderWay(act)) return [...editedCells(act)].some((cell) => waiting.has(cell)) ? null : act
      for (const cell of textCellsOf(act)) waiting.add(cell)
    }
    return null
  }

  /** Fix what is sent for an act: edits against the log at `base`. */
  send(act: Act, base: number): readonly Draft[] {
    const sent =
      act.sent ??
      act.parts.map(({ id, event }): Draft => {
        if (event.type !== "source_edited" || event.edit === undefined) return { id, event }
        return { id, event: { type: "source_edited", cell: event.cell, base, edit: event.edit } }
      })
    this.#replace(act.id, (before) => ({ ...before, sent }))
    return sent
  }

  /** Send an act anew, under new ids and against the log as it is by then. */
  renew(id: EventId, newId: () => EventId): EventId {
    const first = newId()
    this.#replace(id, (act) => {
      const parts = act.parts.map((part, index) => ({ ...part, id: index ? newId() : first }))
      return { ...act, id: first, parts, sent: null }
    })
    return first
  }

  #replace(id: EventId, change: (act: Act) => Act): void {
    this.acts = this.acts.map((act) => (act.id === id ? change(act) : act))
  }

  // ---- What the log says

  /**
   * Take an entry before it is folded into the confirmed notebook. `sourceOf` is the confirmed text of a cell before it;
   * the text of a cell that is not `isBehind` has the entry already. Returns how texts that are shown change.
   */
  receive(entry: Entry, sourceOf: SourceOf, isBehind: (cell: CellId) => boolean = () => true): TextChanges {
    const changes: TextChanges = new Map()
    const act = this.acts.find((each) => each.parts.some((part) => part.id === entry.id))
    const part = act?.parts.find((each) => each.id === entry.id)
    if (act && part) {
      if (this.#isAsExpected(act, part, entry)) {
        this.#settle(act, part)
        if (part.event.type === "source_edited" || part.event.type === "cell_added") return changes
      } else {
        // It came otherwise than it is shown: as a proposal, or through another window that had it too.
        merge(changes, this.withdraw(act.id, sourceOf))
      }
    }
    const sources = new Map<CellId, string>()
    for (const change of cellChanges(entry.event)) {
      const { cell } = change
      if (!isBehind(cell)) continue
      const source = sources.get(cell) ?? sourceOf(cell)
      const theirs = editOf(change, source)
      if (theirs === null) continue
      sources.set(cell, apply(source ?? "", theirs))
      merge(changes, new Map([[cell, this.#pass(cell, theirs)]]))
    }
    return changes
  }

  #isAsExpected(act: Act, part: Part, { event }: Entry): boolean {
    if (event.type !== part.event.type) return false
    if (event.type !== "source_edited" || part.event.type !== "source_edited" || part.event.edit === undefined) return true
    const { cell } = part.event
    const before = this.acts.slice(0, this.acts.indexOf(act)).some((each) => textCellsOf(each).has(cell))
    return !before && act.parts[0] === part && isSameEdit(appliedEdit(event), part.event.edit)
  }

  #settle(act: Act, part: Part): void {
    const parts = act.parts.filter((each) => each !== part)
    if (parts.length) this.#replace(act.id, (before) => ({ ...before, parts }))
    else this.acts = this.acts.filter((each) => each.id !== act.id)
  }

  /** Somebody else's edit of a cell: all that waits moves behind it. Returns it as what is shown has to take it. */
  #pass(cell: CellId, theirs: Edit): Edit {
    this.acts = this.acts.map((act) =>
      textCellsOf(act).has(cell)
        ? mapEdits(act, (its, edit) => {
            if (its !== cell) return edit
            const [ours, rest] = transform(edit, theirs)
            theirs = rest
            return ours
          }, (its) => void (theirs = its === cell ? [] : theirs))
        : act,
    )
    return this.typed.get(cell)?.receive(theirs) ?? theirs
  }

  /** Take an act back: what was made on top of it stays. Returns how texts that are shown change. */
  withdraw(id: EventId, sourceOf: SourceOf): TextChanges {
    const changes: TextChanges = new Map()
    const index = this.acts.findIndex((act) => act.id === id)
    const act = this.acts[index]
    if (!act) return changes
    const before = this.acts.slice(0, index)
    const behind = this.acts.slice(index + 1)
    this.acts = behind
    for (const cell of editedCells(act)) {
      const source = textAfter(sourceOf(cell) ?? "", before, cell)
      const whole = act.parts.reduce<Edit>((all, { event }) => (isEditOf(event, cell) ? compose(all, event.edit ?? []) : all), [])
      changes.set(cell, this.#pass(cell, invert(source, whole)))
    }
    for (const { event } of act.parts) {
      if (event.type !== "cell_added") continue
      const source = textAfter(sourceOf(event.cell) ?? "", before, event.cell)
      merge(changes, new Map([[event.cell, this.#pass(event.cell, difference(event.source ?? "", source))]]))
    }
    this.acts = [...before, ...this.acts]
    return changes
  }

  // ---- What is shown

  /** The notebook with all of it, and what was typed. Cells that are not `touched` are the same objects. */
  over(confirmed: Notebook, author: Author): Overlaid {
    if (this.isEmpty) return { notebook: confirmed, touched: [] }
    const folding = new Fold(confirmed)
    const show = (id: EventId, at: string, seq: number, event: KnownEvent): void => {
      const shown = predicted(folding.now, event)
      if (shown) folding.predict({ ...author, seq, id, at, event: shown })
    }
    for (const act of this.acts) for (const { id, event } of act.parts) show(id, act.at, act.seq, event)
    for (const { id, cell, seq, edit } of this.typed.values()) show(id, "", seq, { type: "source_edited", cell, edit })
    return { notebook: folding.notebook(), touched: folding.touched }
  }
}

/** The cells whose text an act sets or edits. */
function textCellsOf(act: Act): Set<CellId> {
  const cells = editedCells(act)
  for (const { event } of act.parts) if (event.type === "cell_added") cells.add(event.cell)
  return cells
}

/** The cells whose text an act edits. */
export function editedCells(act: Act): Set<CellId> {
  const cells = new Set<CellId>()
  for (const { event } of act.parts) if (event.type === "source_edited") cells.add(event.cell)
  return cells
}

/** The edits that events are, by cell. */
export function editsOf(events: readonly KnownEvent[]): TextChanges {
  const edits: TextChanges = new Map()
  for (const event of events) {
    if (event.type === "source_edited") edits.set(event.cell, compose(edits.get(event.cell) ?? [], event.edit ?? []))
  }
  return edits
}

/** The number of the log that the edits of an act were sent against. */
export function baseOf(act: Act): number {
  const bases = (act.sent ?? []).flatMap(({ event }) => (event.type === "source_edited" ? [event.base ?? 0] : []))
  return Math.min(...bases)
}

function isEditOf(event: KnownEvent, cell: CellId): event is Extract<KnownEvent, { type: "source_edited" }> {
  return event.type === "source_edited" && event.cell === cell && event.edit !== undefined
}

/** The act with other edits; `added` is called for a cell that it brings, whose text before is of no account. */
function mapEdits(act: Act, change: (cell: CellId, edit: Edit) => Edit, added: (cell: CellId) => void = () => undefined): Act {
  const parts = act.parts.map((part): Part => {
    const { event } = part
    if (event.type === "cell_added") added(event.cell)
    if (event.type !== "source_edited" || event.edit === undefined) return part
    return { ...part, event: { ...event, edit: change(event.cell, event.edit) } }
  })
  return { ...act, parts }
}

function textAfter(source: string, acts: readonly Act[], cell: CellId): string {
  for (const act of acts) {
    for (const { event } of act.parts) {
      if (isEditOf(event, cell)) source = apply(source, event.edit ?? [])
      else if (event.type === "cell_added" && event.cell === cell) source = event.source ?? ""
    }
  }
  return source
}

/** What a recorded change did to the text of its cell; null where it did nothing to it. */
function editOf(change: CellChange, before: string | undefined): Edit | null {
  if (change.type === "cell_added") return difference(before ?? "", change.source ?? "")
  if (change.type !== "source_edited") return null
  if (change.applied || typeof change.text !== "string") return appliedEdit(change)
  return difference(before ?? "", change.text)
}

function merge(changes: TextChanges, more: TextChanges): void {
  for (const [cell, edit] of more) changes.set(cell, compose(changes.get(cell) ?? [], edit))
}
