/**
 * How far this person has seen a notebook, and what others did since.
 *
 * What is recorded while the page is looked at (visible, with the focus) is seen, once it was looked at for some seconds;
 * what is recorded meanwhile is not. The server keeps the number for the person, so that every browser of theirs goes on
 * from there. What was new when the person came stays marked here until it is dismissed.
 */

import type { CellId, Notebook } from "../core/types.gen.ts"
import type { SeenFound, Since } from "./api_activity.ts"
import type { Cancel, Clock } from "./clock.ts"
import type { Live } from "./live.ts"
import { Value } from "./store.ts"
import type { Listener, Stop } from "./store.ts"

/** What others did since this person last looked. */
export interface News {
  readonly since: Since
  /** When they last looked. */
  readonly at: string | null
  /** Whether the page was open all the time, and not looked at. */
  readonly isAway: boolean
}

export interface SeenParts {
  readonly clock: Clock
  /** Whether somebody looks at the page. */
  readonly attention: { readonly get: () => boolean; readonly subscribe: (listener: Listener) => Stop }
  seen(): Promise<SeenFound>
  mark(seq: number, isLast: boolean): Promise<void>
  since(seq: number): Promise<Since>
  notebook(seq: number): Promise<Notebook>
  /** The time, as the server writes it. */
  now(): string
}

/** For how long a page is looked at before what is on it counts as seen. */
export const LOOK_MILLISECONDS = 3000
/** How long after a change that was seen the server is told. */
export const MARK_MILLISECONDS = 5000

const NO_CELLS: ReadonlySet<CellId> = new Set()

export class SeenTracker {
  readonly news = new Value<News | null>(null)
  /** The cells to which others did something. */
  readonly marked = new Value<ReadonlySet<CellId>>(NO_CELLS)
  /** The one whose difference is shown. */
  readonly open = new Value<ReadonlySet<CellId>>(NO_CELLS)
  readonly #live: Live
  #parts: SeenParts | null = null
  #stops: Stop[] = []
  #timer: Cancel = () => undefined
  #past: { readonly seq: number; readonly notebook: Promise<Notebook> } | null = null
  /** What the server has; null as long as that is not known. */
  #known: SeenFound | null = null
  #isAsking = false
  #isMarkDue = false
  /** Whether the page was looked at for long enough. */
  #isLooked = false
  /** How far the log was when it was last known to be seen or opened here, and when that was; null while the page is looked at. */
  #left: { readonly seq: number; readonly at: string } | null = null

  constructor(live: Live) {
    this.#live = live
  }

  start(parts: SeenParts): Stop {
    this.#parts = parts
    this.#stops = [parts.attention.subscribe(() => this.#attentionChanged()), this.#live.store.subscribe("seq", () => this.#grew())]
    this.#left = { seq: this.#live.seq, at: parts.now() }
    void this.#ask()
    if (parts.attention.get()) this.#look()
    return () => {
      this.#leave(parts)
      for (const stop of this.#stops.splice(0)) stop()
      this.#parts = null
    }
  }

  /** The notebook as it was when this person last looked. */
  past(): Promise<Notebook> | null {
    const seq = this.news.get()?.since.seq
    if (seq === undefined || !this.#parts) return null
    if (this.#past?.seq !== seq) {
      const notebook = this.#parts.notebook(seq)
      notebook.catch(() => void (this.#past = null))
      this.#past = { seq, notebook }
    }
    return this.#past.notebook
  }

  /** All of it was seen. */
  dismiss(): void {
    this.news.set(null)
    this.marked.set(NO_CELLS)
    this.open.set(NO_CELLS)
    this.#looked()
  }

  async #ask(): Promise<void> {
    const parts = this.#parts
    if (!parts || this.#isAsking) return
    this.#isAsking = true
    try {
      const found = await parts.seen()
      this.#known = found
      if (found.at !== null && found.seq < this.#live.seq) await this.#tell(found.seq, found.at, false)
    } catch {
      // The server is away: asked again when the page is looked at the next time.
    } finally {
      this.#isAsking = false
      if (this.#isLooked) this.#mark(false)
    }
  }

  async #tell(seq: number, at: string | null, isAway: boolean): Promise<void> {
    const since = await this.#parts?.since(seq)
    if (!since || since.actors.length === 0 || !this.#parts) return
    this.marked.set(new Set(since.cells.map(({ cell }) => cell)))
    this.news.set({ since, at, isAway })
  }

  // ---- Attention

  #attentionChanged(): void {
    const parts = this.#parts
    if (!parts) return
    if (parts.attention.get()) this.#returned()
    else this.#leave(parts)
  }

  /** What was there until now was seen, if the page was looked at for long enough. */
  #leave(parts: SeenParts): void {
    if (this.#isLooked) {
      this.#mark(true)
      this.#left = { seq: this.#live.seq, at: parts.now() }
    }
    this.#isLooked = false
    this.#isMarkDue = false
    this.#timer()
  }

  #returned(): void {
    const left = this.#left
    if (this.#known === null) void this.#ask()
    else if (left && left.seq < this.#live.seq) {
      const before = this.news.get()
      const told = before ? this.#tell(before.since.seq, before.at, before.isAway) : this.#tell(left.seq, left.at, true)
      told.catch(() => undefined)
    }
    this.#look()
  }

  #look(): void {
    this.#timer()
    this.#timer = this.#after(LOOK_MILLISECONDS, () => this.#looked())
  }

  #looked(): void {
    this.#isLooked = true
    this.#left = null
    this.#mark(false)
  }

  #grew(): void {
    if (!this.#isLooked || this.#isMarkDue) return
    this.#isMarkDue = true
    this.#timer()
    this.#timer = this.#after(MARK_MILLISECONDS, () => this.#mark(false))
  }

  #after(milliseconds: number, then: () => void): Cancel {
    return this.#parts?.clock.after(milliseconds, then) ?? (() => undefined)
  }

  #mark(isLast: boolean): void {
    const parts = this.#parts
    const { seq } = this.#live
    // Without an answer yet, it is not known what is new: nothing may be taken for seen.
    if (!parts || this.#known === null || this.#isAsking) return
    this.#isMarkDue = false
    this.#timer()
    this.#known = { seq: Math.max(seq, this.#known.seq), at: parts.now() }
    parts.mark(seq, isLast).catch(() => undefined)
  }
}

const TRACKERS = new WeakMap<Live, SeenTracker>()

/** The one tracker of an open notebook. */
export function seenOf(live: Live): SeenTracker {
  const known = TRACKERS.get(live)
  if (known) return known
  const made = new SeenTracker(live)
  TRACKERS.set(live, made)
  return made
}
