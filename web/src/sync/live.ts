/**
 * A notebook as one window has it: what the log says, and over it what was done here and is not recorded yet.
 *
 * `store` has what is shown. What is done here is in storage before the call returns, goes to the server in its order, and
 * is taken back, with the reason, when it is refused. `open` makes one.
 */

import { cellChanges } from "../core/events.ts"
import { Fold } from "../core/reduce.ts"
import { compose, difference } from "../core/text.ts"
import type { CellId, Edit, Entry, EventId, KnownEvent, LogId, Notebook } from "../core/types.gen.ts"
import { CellText } from "./cell_text.ts"
import { writeTime } from "./clock.ts"
import type { Cancel, Clock } from "./clock.ts"
import type { Fault } from "./fault.ts"
import type { Me } from "./frames.ts"
import { Patience } from "./patience.ts"
import { baseOf, editedCells, editsOf, Pending } from "./pending.ts"
import type { Act, Author, PendingJson, TextChanges } from "./pending.ts"
import type { Answer, Socket } from "./socket.ts"
import { NotebookStore, Value } from "./store.ts"
import type { Stop } from "./store.ts"
import { TextListeners } from "./text_listeners.ts"
import type { TextListener } from "./text_listeners.ts"
import { reused } from "./reuse.ts"

/** What is kept in storage until it is recorded. */
export interface Journal {
  readonly pending: PendingJson
  /** The texts that edits are made on, each with the number at which the log had it so. */
  readonly texts: readonly (readonly [cell: CellId, seq: number, source: string])[]
}

/** An act that was refused: what it was, and why. */
export interface Refusal {
  readonly id: EventId
  readonly events: readonly KnownEvent[]
  readonly fault: Fault
}

export type Outcome =
  | { readonly kind: "recorded"; readonly proposed: boolean }
  | { readonly kind: "refused"; readonly fault: Fault }

export interface LiveParts {
  readonly log: LogId
  readonly me: Me
  readonly socket: Socket
  readonly clock: Clock
  readonly newId: () => EventId
  /** Keeps what waits, at once; null when nothing does. */
  readonly keep: (journal: Journal | null) => void
  /** Whether somebody else is in a cell. */
  readonly isShared?: (cell: CellId) => boolean
  /** The entries do not fit: the notebook has to be read again. */
  readonly reload?: () => void
}

const MOST_REFUSALS = 20
/** For how long somebody whose edit arrived counts as being in a cell. */
const SHARED_AFTER_EDIT = 10_000

const NO_CHANGES: TextChanges = new Map()

export class Live {
  readonly store: NotebookStore
  /** How many acts and typed texts are not recorded. */
  readonly waiting = new Value(0)
  readonly refusals = new Value<readonly Refusal[]>([])
  readonly #parts: LiveParts
  readonly #author: Author
  readonly #underWay = new Set<EventId>()
  readonly #judged = new Set<EventId>()
  readonly #patience: Patience
  readonly #outcomes = new Map<EventId, (outcome: Outcome) => void>()
  readonly #listeners = new TextListeners()
  readonly #stop: Stop
  /** When a cell was last added, and when somebody else last edited it. */
  readonly #addedAt = new Map<CellId, number>()
  readonly #editedAt = new Map<CellId, number>()
  #reached: { readonly seq: number; readonly then: () => void }[] = []
  #confirmed: Notebook
  #textSeqs: ReadonlyMap<CellId, number> = new Map()
  /** The cells that may be others now than those that are shown; null when any may. */
  #touched: readonly CellId[] | null = []
  #pending = new Pending()
  #timer: Cancel = () => undefined
  #isFollowing = false
  #isClosed = false

  constructor(notebook: Notebook, parts: LiveParts) {
    const { log, me } = parts
    this.#parts = parts
    this.#patience = new Patience(parts.clock, parts.socket.unsaved)
    this.#confirmed = notebook
    this.#author = { log, actor: me.actor, on_behalf_of: me.on_behalf_of ?? null }
    this.store = new NotebookStore(notebook, (milliseconds, call) => void parts.clock.after(milliseconds, call))
    this.#stop = parts.socket.state.subscribe(() => this.#send())
  }

  /** The last number that is folded. */
  get seq(): number {
    return this.#confirmed.seq
  }

  /** What the log says, without what waits here. */
  get confirmed(): Notebook {
    return this.#confirmed
  }

  get isWaiting(): boolean {
    return !this.#pending.isEmpty
  }

  /** Begin to follow the log, from where the notebook is, and to send. */
  follow(): Stop {
    const stop = this.#parts.socket.follow(this.#parts.log, {
      since: () => this.seq,
      take: (entries) => this.take(entries),
      failed: () => this.#parts.reload?.(),
    })
    this.#isFollowing = true
    this.#send()
    return () => {
      this.#isFollowing = false
      stop()
    }
  }

  close(): void {
    this.#isClosed = true
    this.#timer()
    this.#patience.end()
    this.#stop()
  }

  // ---- What is done here

  /** Do something: all of it is recorded, or none. Whole texts become edits, so that they merge. Returns its id. */
  act(events: readonly KnownEvent[], settled?: (outcome: Outcome) => void): EventId {
    this.#closeTexts()
    const id = this.#parts.newId()
    const parts = events.map((event, index) => ({ id: index ? this.#parts.newId() : id, event: this.#asEdit(event) }))
    this.#pending.add({ id, at: this.#now(), seq: this.seq + 1, parts, sent: null })
    if (settled) this.#outcomes.set(id, settled)
    this.#changed(editsOf(parts.map(({ event }) => event)))
    return id
  }

  #asEdit(event: KnownEvent): KnownEvent {
    if (event.type !== "source_edited" || typeof event.text !== "string") return event
    const source = this.#source(event.cell)
    return { type: "source_edited", cell: event.cell, edit: difference(source, event.text) }
  }

  /** Type into a cell: an edit of the text that is shown, in code points. */
  type(cell: CellId, edit: Edit): void {
    const now = this.#parts.clock.now()
    const text = this.#pending.typed.get(cell)
    if (text) text.type(edit, now)
    else this.#pending.typed.set(cell, new CellText({ cell, id: this.#parts.newId(), seq: this.seq + 1, edit }, now))
    this.#changed(new Map([[cell, edit]]), cell)
  }

  /** Send what was typed, at once: before a run, and when a cell is left. */
  flush(): void {
    this.#closeTexts()
    this.#changed()
  }

  #closeTexts(isDue: (text: CellText) => boolean = () => true): void {
    for (const text of [...this.#pending.typed.values()]) if (isDue(text)) this.#pending.close(text.cell, this.#now())
  }

  #now(): string {
    return writeTime(this.#parts.clock.now())
  }

  /** Call the listener for each change of a cell's text that was not typed here. */
  watchText(cell: CellId, listener: TextListener): Stop {
    return this.#listeners.watch(cell, listener)
  }

  /** Call the listener for each change of any text, also what is typed here. */
  watchTexts(listener: (cell: CellId, edit: Edit) => void): Stop {
    return this.#listeners.watchAll(listener)
  }

  /** Forget a refusal that somebody has seen. */
  dismiss(id: EventId): void {
    this.refusals.set(this.refusals.get().filter((refusal) => refusal.id !== id))
  }

  // ---- What the log says

  /** Take entries of the log; those that are folded already are passed over. */
  take(entries: readonly Entry[]): void {
    const folding = new Fold(this.#confirmed)
    const changes: TextChanges = new Map()
    for (const entry of entries) {
      if (entry.seq <= folding.now.seq) continue
      if (entry.seq !== folding.now.seq + 1) return this.#parts.reload?.()
      const texts = this.#pending.receive(entry, (cell) => folding.now.cells.get(cell)?.source)
      for (const [cell, edit] of texts) changes.set(cell, compose(changes.get(cell) ?? [], edit))
      this.#note(entry)
      folding.add(entry)
    }
    this.#confirmed = folding.notebook()
    this.#touched = this.#touched && [...this.#touched, ...folding.touched]
    this.#changed(changes)
    this.#arrive()
  }

  #arrive(): void {
    const reached = this.#reached.filter(({ seq }) => seq <= this.seq)
    this.#reached = this.#reached.filter(({ seq }) => seq > this.seq)
    for (const { then } of reached) then()
  }

  /** Call `then` once the log is folded up to a number. */
  whenAt(seq: number, then: () => void): void {
    if (seq <= this.seq) then()
    else this.#reached.push({ seq, then })
  }

  #note(entry: Entry): void {
    for (const change of cellChanges(entry.event)) {
      if (change.type === "cell_added") this.#addedAt.set(change.cell, entry.seq)
      else if (change.type === "source_edited" && entry.actor !== this.#author.actor) {
        this.#editedAt.set(change.cell, this.#parts.clock.now())
      }
    }
  }

  // ---- Storage

  /** What is to be kept of what waits here. */
  journal(): Journal | null {
    if (this.#pending.isEmpty) return null
    const texts = [...this.#pending.textCells()].flatMap((cell) => {
      const source = this.#confirmed.cells.get(cell)?.source
      return source === undefined ? [] : [[cell, this.#textSeqs.get(cell) ?? this.seq, source] as const]
    })
    return { pending: this.#pending.toJSON(), texts }
  }

  /**
   * Go on with what another window left: brought up to the number that this one has, or, without the server, on `texts`
   * as that window knew them.
   */
  adopt(left: Pending, texts: Journal["texts"] = []): void {
    this.#textSeqs = new Map([...this.#textSeqs, ...texts.map(([cell, seq]) => [cell, seq] as const)])
    if (texts.length) this.#confirmed = withTexts(this.#confirmed, texts)
    this.#touched = null
    this.#pending.append(left, this.#now())
    this.#changed()
  }

  /** Begin anew from another notebook, with what waits brought up to its number. */
  reset(notebook: Notebook, pending: Pending): void {
    this.#confirmed = notebook
    this.#pending = pending
    this.#textSeqs = new Map()
    this.#touched = null
    this.#changed()
    this.#arrive()
  }

  // ---- Showing, keeping, sending

  /** Show, keep and send. `changes` are of texts that are shown; `typedIn` is the cell whose editor has it already. */
  #changed(changes: TextChanges = NO_CHANGES, typedIn: CellId | null = null): void {
    const before = this.store.get()
    const over = this.#pending.over(this.#confirmed, this.#author)
    const among = this.#touched && [...this.#touched, ...over.touched]
    // What is touched now is shown otherwise than the log has it: what waits may be gone the next time.
    this.#touched = [...over.touched]
    const differing = this.store.put(reused(before, over), among)
    this.#parts.keep(this.journal())
    this.waiting.set(this.#pending.acts.length + this.#pending.typed.size)
    if (!this.isWaiting) this.#patience.end()
    this.#listeners.tell(differing, before.cells, this.store.get().cells, changes, typedIn)
    this.#send()
  }

  #source(cell: CellId): string {
    return this.store.cell(cell)?.source ?? ""
  }

  #send(): void {
    this.#timer()
    if (this.#isClosed || !this.#isFollowing || !this.#parts.socket.isOpen || this.#patience.isWaiting) return
    const now = this.#parts.clock.now()
    const gathered = [...this.#pending.typed.values()].filter(({ cell }) => !this.#pending.hasActOn(cell))
    const due = (text: CellText): number => text.dueAt(this.#isShared(text.cell))
    const next = Math.min(...gathered.map(due))
    if (next <= now) {
      this.#closeTexts((text) => gathered.includes(text) && due(text) <= now)
      this.#parts.keep(this.journal())
    }
    const isUnderWay = ({ id }: Act): boolean => this.#underWay.has(id) || this.#judged.has(id)
    for (let act = this.#pending.next(isUnderWay); act; act = this.#pending.next(isUnderWay)) this.#submit(act)
    const later = Math.min(...gathered.map(due).filter((at) => at > now))
    if (later < Infinity) this.#timer = this.#parts.clock.after(later - now, () => this.#send())
  }

  #isShared(cell: CellId): boolean {
    const editedAt = this.#editedAt.get(cell) ?? -Infinity
    return this.#parts.clock.now() - editedAt < SHARED_AFTER_EDIT || (this.#parts.isShared?.(cell) ?? false)
  }

  #submit({ id }: Act): void {
    const act = this.#pending.acts.find((each) => each.id === id)
    if (!act) return
    const isNew = act.sent === null
    const drafts = this.#pending.send(act, this.seq)
    if (isNew) this.#parts.keep(this.journal())
    this.#underWay.add(id)
    this.#parts.socket.submit(this.#parts.log, drafts, (answer) => this.#answered(id, answer))
  }

  #answered(id: EventId, answer: Answer): void {
    if (this.#isClosed) return
    if (answer.kind === "failed" && this.#isPassing(id, answer.fault)) {
      this.#underWay.delete(id)
      return void this.#patience.fail(id, answer.fault, () => this.#send())
    }
    if (answer.kind !== "failed") this.#patience.end()
    if (answer.kind === "lost") return void this.#underWay.delete(id)
    this.#patience.forget(id)
    if (answer.kind === "recorded") {
      this.#settle(id, { kind: "recorded", proposed: answer.proposed })
      // It was recorded before this window read the notebook, and nothing more of it will come.
      if ((answer.entries.at(-1)?.seq ?? 0) <= this.seq) this.#withdraw(id)
      return void this.#send()
    }
    this.#refused(id, answer.fault)
  }

  #isPassing(id: EventId, fault: Fault): boolean {
    const index = this.#pending.acts.findIndex((act) => act.id === id)
    return fault.isPassing || (index > 0 && this.#patience.hasFailed(this.#pending.acts.slice(0, index)))
  }

  /** An edit is refused when its cell was removed and added again meanwhile. It fits the new text: it is sent anew. */
  #refused(id: EventId, fault: Fault): void {
    const act = this.#pending.acts.find((each) => each.id === id)
    this.#underWay.delete(id)
    if (!act) return
    if (editedCells(act).size === 0) return void this.#takeBack(act, fault)
    this.#judged.add(id)
    this.#parts.socket.askHead(this.#parts.log, this.seq, (head) => {
      this.whenAt(head, () => this.#judge(id, fault))
    })
  }

  #judge(id: EventId, fault: Fault): void {
    this.#judged.delete(id)
    const act = this.#pending.acts.find((each) => each.id === id)
    if (!act) return
    const base = baseOf(act)
    const isMoved = [...editedCells(act)].some((cell) => (this.#addedAt.get(cell) ?? 0) > base)
    if (!isMoved) return void this.#takeBack(act, fault)
    const renewed = this.#pending.renew(id, this.#parts.newId)
    const settled = this.#outcomes.get(id)
    if (settled) this.#outcomes.set(renewed, settled)
    this.#outcomes.delete(id)
    this.#changed()
  }

  #takeBack(act: Act, fault: Fault): void {
    const refusal = { id: act.id, events: act.parts.map((part) => part.event), fault }
    this.#withdraw(act.id)
    this.refusals.set([...this.refusals.get(), refusal].slice(-MOST_REFUSALS))
    this.#settle(act.id, { kind: "refused", fault })
  }

  #withdraw(id: EventId): void {
    if (!this.#pending.acts.some((act) => act.id === id)) return
    this.#underWay.delete(id)
    this.#changed(this.#pending.withdraw(id, (cell) => this.#confirmed.cells.get(cell)?.source))
  }

  #settle(id: EventId, outcome: Outcome): void {
    const settled = this.#outcomes.get(id)
    this.#outcomes.delete(id)
    settled?.(outcome)
  }
}

/** The notebook with other texts in its cells. */
function withTexts(notebook: Notebook, texts: Journal["texts"]): Notebook {
  const cells = new Map(notebook.cells)
  for (const [id, , source] of texts) {
    const cell = cells.get(id)
    if (cell) cells.set(id, { ...cell, source })
  }
  return { ...notebook, cells }
}
