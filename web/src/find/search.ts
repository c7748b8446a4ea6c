/** A search over a whole notebook, a few milliseconds at a time; it goes on as the notebook changes. */

import { liveCells } from "../core/notebook.ts"
import type { Cell, CellId } from "../core/types.gen.ts"
import type { Cancel, Clock } from "../sync/clock.ts"
import { Value } from "../sync/store.ts"
import type { NotebookStore, Stop } from "../sync/store.ts"
import { AS_OPENED, compile, matchesIn } from "./matches.ts"
import type { Match, Query } from "./matches.ts"
import { OutputReader } from "./output_reader.ts"
import type { OutputSource } from "./output_reader.ts"

export interface Found {
  readonly matches: readonly Match[]
  /** Whether every cell was looked at. */
  readonly isComplete: boolean
  /** Whether there are more than are listed. */
  readonly isCut: boolean
  readonly fault: string | null
}

export const MOST_MATCHES = 10_000
const CHUNK_MILLISECONDS = 8
const PAUSE_MILLISECONDS = 150

const NOTHING: Found = { matches: [], isComplete: true, isCut: false, fault: null }
export const EMPTY_QUERY: Query = { text: "", matchesCase: false, isWholeWord: false, isPattern: false }

export class Search {
  readonly query = new Value<Query>(EMPTY_QUERY)
  readonly found = new Value<Found>(NOTHING)
  /** What replaces a match. */
  readonly replacement = new Value("")
  /** Which match is gone to, from 0; -1 before any is. */
  readonly current = new Value(-1)
  /** Text of outputs that the notebook has not; null where it cannot be had. */
  readonly outputs: OutputReader | null
  readonly #store: NotebookStore
  readonly #clock: Clock
  /** What was found in a cell: as long as it is the same object, it is the same. */
  #known = new WeakMap<Cell, readonly Match[]>()
  #regex: RegExp | null = null
  #next: Cancel = () => undefined
  #isStarted = false
  #isTaking = false

  constructor(store: NotebookStore, clock: Clock, source: OutputSource | null = null) {
    this.#store = store
    this.#clock = clock
    this.outputs = source && new OutputReader(source, (cell) => this.#takeOutput(cell))
  }

  get regex(): RegExp | null {
    return this.#regex
  }

  /** Search again whenever the notebook changes. */
  start(): Stop {
    const changed = (): void => this.#runSoon()
    const stops = [this.#store.subscribe("cells", changed), this.#store.subscribe("order", changed)]
    this.#isStarted = true
    this.#run()
    return () => {
      this.#isStarted = false
      this.#next()
      this.outputs?.leave()
      for (const stop of stops) stop()
    }
  }

  #runSoon(): void {
    this.#next()
    this.#next = this.#clock.after(PAUSE_MILLISECONDS, () => this.#run())
  }

  /** Text of a cell's outputs was read: search it too. While more of it comes, not each time. */
  #takeOutput(id: CellId): void {
    const cell = this.#store.cell(id)
    if (cell) this.#known.delete(cell)
    if (!this.#isStarted || this.#isTaking) return
    this.#isTaking = true
    this.#clock.after(PAUSE_MILLISECONDS, () => {
      this.#isTaking = false
      if (this.#isStarted) this.#run()
    })
  }

  ask(query: Query): void {
    this.query.set(query)
    this.current.set(-1)
    this.#known = new WeakMap()
    this.#run()
  }

  /** Go on from the match that is gone to, or from the first one at or behind a cell. */
  step(by: 1 | -1, isBehind: (match: Match) => boolean = () => true): Match | null {
    const { matches } = this.found.get()
    if (matches.length === 0) return null
    const now = this.current.get()
    const first = Math.max(0, matches.findIndex(isBehind))
    const next = now < 0 ? (by > 0 ? first : first - 1) : now + by
    const index = (next + matches.length) % matches.length
    this.current.set(index)
    return matches[index] ?? null
  }

  /** Search at once, as after an edit of one's own. */
  refresh(): void {
    this.#run()
  }

  #run(): void {
    this.#next()
    const query = this.query.get()
    const pattern = query.text === "" ? null : compile(query)
    this.#regex = pattern && "regex" in pattern ? pattern.regex : null
    if (!this.#regex) {
      this.outputs?.rest()
      return void this.#show({ ...NOTHING, fault: pattern && "fault" in pattern ? pattern.fault : null })
    }
    this.outputs?.searchFor(this.#regex)
    this.#chunk(liveCells(this.#store.get()), 0, [], this.#regex)
  }

  #chunk(cells: readonly Cell[], from: number, matches: Match[], regex: RegExp): void {
    const until = this.#clock.now() + CHUNK_MILLISECONDS
    let index = from
    for (; index < cells.length && matches.length <= MOST_MATCHES; index += 1) {
      const cell = cells[index]
      if (cell) matches.push(...this.#matchesOf(cell, regex))
      if (this.#clock.now() >= until) break
    }
    const isComplete = index >= cells.length || matches.length > MOST_MATCHES
    const isCut = matches.length > MOST_MATCHES
    if (isComplete) {
      this.#show({ matches: matches.slice(0, MOST_MATCHES), isComplete, isCut, fault: null })
      return void this.outputs?.read(cells)
    }
    this.#next = this.#clock.after(0, () => this.#chunk(cells, index + 1, matches, regex))
  }

  #matchesOf(cell: Cell, regex: RegExp): readonly Match[] {
    const known = this.#known.get(cell)
    if (known) return known
    const found = matchesIn(cell, regex, MOST_MATCHES + 1, this.outputs ?? AS_OPENED)
    this.#known.set(cell, found)
    return found
  }

  /** Show what was found; the match that is gone to stays so, if it is still there. */
  #show(next: Found): void {
    const before = this.found.get().matches[this.current.get()]
    const index = before ? next.matches.findIndex((match) => isAt(match, before)) : -1
    this.found.set(next)
    if (before) this.current.set(index >= 0 ? index : nextAfter(next.matches, before))
  }
}

function isAt(one: Match, other: Match): boolean {
  return one.cell === other.cell && one.where === other.where && one.output === other.output && one.from === other.from
}

/** The one before the next match in the same source: a step goes on from there. */
function nextAfter(matches: readonly Match[], { cell, from }: Match): number {
  const next = matches.findIndex((match) => match.cell === cell && match.from >= from)
  return next < 0 ? -1 : next - 1
}
