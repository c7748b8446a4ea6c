/** The lines of activity that are loaded: a page from the end, older ones when asked for, and new ones as the log grows. */

import type { ActivityLine, ActivityPage, ActivityQuery } from "../sync/api_activity.ts"
import type { Cancel, Clock } from "../sync/clock.ts"
import { Value } from "../sync/store.ts"

export interface Loaded {
  readonly lines: readonly ActivityLine[]
  /** What to ask for next; null when all of the log was read. */
  readonly before: number | null
  readonly isLoading: boolean
  readonly fault: string | null
}

export interface FeedParts {
  readonly clock: Clock
  /** How far the log is here. */
  readonly head: () => number
  readonly read: (query: ActivityQuery) => Promise<ActivityPage>
}

/** How long after the log grew it is read again: typing makes an entry every second. */
export const FOLLOW_MILLISECONDS = 700
/** An answer without lines says only that none was found so far. */
const MOST_EMPTY = 20

export class ActivityFeed {
  readonly loaded = new Value<Loaded>({ lines: [], before: null, isLoading: true, fault: null })
  readonly #parts: FeedParts
  readonly #filter: ActivityQuery
  #timer: Cancel = () => undefined
  #isDue = false
  #isClosed = false
  /** How far the log was when it was last read from its end. */
  #head = 0

  constructor(filter: ActivityQuery, parts: FeedParts) {
    this.#filter = filter
    this.#parts = parts
  }

  start(): void {
    this.#isClosed = false
    void this.#newest()
  }

  close(): void {
    this.#isClosed = true
    this.#timer()
    this.#isDue = false
  }

  /** The log has grown. */
  grew(): void {
    if (this.#isDue || this.#isClosed) return
    this.#isDue = true
    this.#timer = this.#parts.clock.after(FOLLOW_MILLISECONDS, () => {
      this.#isDue = false
      void this.#newest()
    })
  }

  /** Load the lines before the last one. */
  async older(): Promise<void> {
    const { before, isLoading } = this.loaded.get()
    if (before === null || isLoading) return
    await this.#load(async () => {
      const page = await this.#found({ ...this.#filter, before })
      const { lines } = this.loaded.get()
      return { lines: [...lines, ...page.lines.filter(({ last }) => last < before)], before: page.before }
    })
  }

  #newest(): Promise<void> {
    return this.#load(async () => {
      const head = this.#parts.head()
      const page = await this.#found(this.#filter)
      const joined = joinLines(page, this.loaded.get(), this.#head)
      this.#head = head
      return joined
    })
  }

  /** A page with at least one line, or the beginning of the log. */
  async #found(query: ActivityQuery): Promise<ActivityPage> {
    let page = await this.#parts.read(query)
    for (let tries = 0; page.lines.length === 0 && page.before !== null && tries < MOST_EMPTY && !this.#isClosed; tries += 1) {
      page = await this.#parts.read({ ...query, before: page.before })
    }
    return page
  }

  async #load(read: () => Promise<Pick<Loaded, "lines" | "before">>): Promise<void> {
    this.#set({ isLoading: true })
    try {
      this.#set({ ...(await read()), isLoading: false, fault: null })
    } catch (error) {
      this.#set({ isLoading: false, fault: error instanceof Error ? error.message : String(error) })
    }
  }

  #set(change: Partial<Loaded>): void {
    if (!this.#isClosed) this.loaded.set({ ...this.loaded.get(), ...change })
  }
}

/** The newest page, followed by what is known of before it. Where more is new than a page has, what is known is let go. */
export function joinLines(page: ActivityPage, known: Pick<Loaded, "lines" | "before">, head: number): Pick<Loaded, "lines" | "before"> {
  const { before } = page
  if (before === null || known.lines.length === 0 || before > head) return page
  const older = known.lines.filter(({ last }) => last < before)
  return { lines: [...page.lines, ...older], before: older.length ? known.before : before }
}
