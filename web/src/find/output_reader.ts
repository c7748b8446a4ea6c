/**
 * Reads the text of outputs that the notebook has not, so that it can be searched.
 *
 * Up to a size it is fetched unasked, and kept: what is typed next is searched in it too. What is longer is searched when a
 * person asks for it, in pieces, and only what was found is kept. Both can be stopped.
 */

import type { Cell, CellId, Execution, ExecutionId, Output } from "../core/types.gen.ts"
import { LineCounter, rememberLines } from "../outputs/line_counts.ts"
import { Value } from "../sync/store.ts"
import { executionKey, hiddenTexts, textBlob } from "./hidden_text.ts"
import type { BlobText, HiddenText } from "./hidden_text.ts"
import { outputText, plain, textMatches } from "./matches.ts"
import type { Match, OutputTexts } from "./matches.ts"

/** Where the outputs are. */
export interface OutputSource {
  execution(id: ExecutionId): Promise<Execution>
  blob(hash: string): Promise<Blob>
  blobPart(hash: string, start: number, end: number): Promise<Uint8Array>
}

export interface ReaderStatus {
  readonly isBusy: boolean
  /** Bytes that were read, of how many: of what is read now. */
  readonly done: number
  readonly total: number
  /** What is not searched: too long to be read unasked, or it was stopped. */
  readonly left: { readonly count: number; readonly size: number }
  /** What could not be read, and why. */
  readonly failed: number
  readonly fault: string | null
}

/** Bytes of one text, and of all of them, that are read unasked. */
export const UNASKED = 4_000_000
export const UNASKED_IN_ALL = 32_000_000
export const PIECE = 2_000_000
/** A line that is longer than this is searched in parts. */
const LONGEST_LINE = 16_000_000
const AT_ONCE = 4
/** Matches of one long text that are kept. */
const MOST_FOUND = 10_000
const IDLE: ReaderStatus = { isBusy: false, done: 0, total: 0, left: { count: 0, size: 0 }, failed: 0, fault: null }

export class OutputReader implements OutputTexts {
  readonly status = new Value<ReaderStatus>(IDLE)
  readonly #source: OutputSource
  readonly #onRead: (cell: CellId) => void
  readonly #executions = new Map<string, Execution>()
  readonly #texts = new Map<string, string>()
  /** The sizes of what is kept, by key. */
  readonly #kept = new Map<string, number>()
  readonly #failed = new Map<string, string>()
  /** What was found in long texts, for the pattern of now. */
  readonly #found = new Map<string, readonly Match[]>()
  #cells: readonly Cell[] = []
  #regex: RegExp | null = null
  #doing: "nothing" | "fetch" | "search" = "nothing"
  #isStopped = false
  /** Goes up whenever what is read now is to be left. */
  #turn = 0

  constructor(source: OutputSource, onRead: (cell: CellId) => void) {
    this.#source = source
    this.#onRead = onRead
  }

  // ---- What is known

  outputs(cell: Cell): readonly Output[] {
    return (this.#executions.get(executionKey(cell)) ?? cell.execution)?.outputs ?? []
  }

  text(output: Output): string {
    return this.#texts.get(textBlob(output)?.hash ?? "") ?? outputText(output)
  }

  found(cell: Cell, index: number): readonly Match[] | null {
    const output = this.#found.size ? this.outputs(cell)[index] : undefined
    const hash = output && textBlob(output)?.hash
    return hash ? (this.#found.get(placeKey(cell.id, index, hash)) ?? null) : null
  }

  // ---- What is done about the rest

  /** These cells are searched: read what is hidden of them. */
  read(cells: readonly Cell[]): void {
    this.#cells = cells
    if (this.#doing !== "nothing") return
    this.#forget()
    if (this.#isStopped) this.#tell()
    else void this.#work((turn) => this.#fetchAll(turn, false))
  }

  /** Nothing is searched for. */
  rest(): void {
    this.searchFor(null)
    this.#cells = []
    this.status.set(IDLE)
  }

  /** Leave what is not read yet, until it is asked for. */
  stop(): void {
    this.#isStopped = true
    this.leave()
    this.#tell()
  }

  /** Leave what is not read yet, until the next search. */
  leave(): void {
    this.#turn += 1
    this.#doing = "nothing"
  }

  /** Read all that is left, however long it is; also what failed. */
  async readAll(): Promise<void> {
    this.#isStopped = false
    this.#failed.clear()
    await this.#work(async (turn) => {
      await this.#fetchAll(turn, true)
      await this.#searchAll(turn)
    })
  }

  /** Search for this pattern from now on. What was found in long texts was for another one. */
  searchFor(regex: RegExp | null): void {
    const isSame = regex?.source === this.#regex?.source && regex?.flags === this.#regex?.flags
    this.#regex = regex
    if (isSame) return
    this.#found.clear()
    if (this.#doing === "search") this.leave()
  }

  async #work(read: (turn: number) => Promise<void>): Promise<void> {
    const turn = (this.#turn += 1)
    this.#doing = "fetch"
    await read(turn)
    if (turn !== this.#turn) return
    this.#doing = "nothing"
    this.#tell()
  }

  // ---- What is short enough to be kept

  /** Fetch it, some at a time, until there is none. What was cut and is fetched may name blobs, which come next. */
  async #fetchAll(turn: number, isAsked: boolean): Promise<void> {
    const taken = new Set<string>()
    let done = 0
    for (;;) {
      const waiting = this.#toFetch(isAsked).filter(({ key }) => !taken.has(key))
      if (!waiting.length) return
      const total = done + sizeOf(waiting)
      const fetchNext = async (): Promise<void> => {
        for (let next = waiting.shift(); next && turn === this.#turn; next = waiting.shift()) {
          taken.add(next.key)
          this.#tell(done, total)
          await this.#fetch(next)
          done += next.size
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, fetchNext))
      if (turn !== this.#turn) return
    }
  }

  async #fetch(hidden: HiddenText): Promise<void> {
    try {
      if (hidden.kind === "execution") this.#executions.set(hidden.key, await this.#source.execution(hidden.execution))
      else this.#texts.set(hidden.key, plain(await (await this.#source.blob(hidden.hash)).text()))
    } catch (error) {
      this.#failed.set(hidden.key, messageOf(error))
      return
    }
    this.#kept.set(hidden.key, hidden.size)
    this.#onRead(hidden.cell)
  }

  /** What is fetched whole. Of an execution that was cut nothing can be searched in pieces: when asked for, it always is. */
  #toFetch(isAsked: boolean): HiddenText[] {
    let left = UNASKED_IN_ALL - [...this.#kept.values()].reduce((sum, size) => sum + size, 0)
    return this.#hidden().filter((hidden) => {
      if (this.#isKnown(hidden)) return false
      const isShort = hidden.size <= UNASKED && hidden.size <= left
      if (isShort) left -= hidden.size
      return isShort || (isAsked && hidden.kind === "execution")
    })
  }

  /** Drop what the notebook does not have any more. */
  #forget(): void {
    const keys = new Set([...this.#hidden().map(({ key }) => key), ...this.#cells.map(executionKey)])
    for (const kept of [this.#executions, this.#texts, this.#kept, this.#failed]) {
      for (const key of kept.keys()) if (!keys.has(key)) kept.delete(key)
    }
  }

  // ---- What is longer

  async #searchAll(turn: number): Promise<void> {
    if (turn !== this.#turn) return
    this.#doing = "search"
    const long = this.#hidden().filter((hidden): hidden is BlobText => hidden.kind === "blob" && !this.#isKnown(hidden))
    const total = sizeOf(long)
    let done = 0
    for (const text of long) {
      await this.#searchPieces(text, turn, (bytes) => this.#tell((done += bytes), total))
      if (turn !== this.#turn) return
    }
  }

  /** Search a long text in pieces that end with a line. */
  async #searchPieces(text: BlobText, turn: number, onPiece: (bytes: number) => void): Promise<void> {
    const regex = this.#regex
    if (!regex) return
    const decoder = new TextDecoder()
    const counter = new LineCounter()
    const found: Match[] = []
    let [rest, offset, lines] = ["", 0, 0]
    onPiece(0)
    for (let start = 0; start < text.size && found.length < MOST_FOUND; start += PIECE) {
      const end = Math.min(start + PIECE, text.size)
      const bytes = await this.#source.blobPart(text.hash, start, end).catch((error: unknown) => void this.#failed.set(text.key, messageOf(error)))
      if (!bytes || turn !== this.#turn) return
      counter.add(bytes)
      const read = rest + decoder.decode(bytes, { stream: end < text.size })
      const cut = end === text.size || read.length > LONGEST_LINE ? read.length : read.lastIndexOf("\n") + 1
      const piece = plain(read.slice(0, cut))
      found.push(...textMatches(piece, regex, { cell: text.cell, where: "output", output: text.output, offset, lines }, MOST_FOUND - found.length))
      rest = read.slice(cut)
      offset += piece.length
      lines += piece.split("\n").length - 1
      onPiece(end - start)
    }
    if (found.length < MOST_FOUND) rememberLines(text.hash, counter.lines)
    this.#found.set(placeKey(text.cell, text.output, text.hash), found)
    this.#onRead(text.cell)
  }

  // ---- What there is

  #hidden(): HiddenText[] {
    return this.#cells.flatMap((cell) => hiddenTexts(cell, this.outputs(cell)))
  }

  /** Whether it was read, or could not be. */
  #isKnown(hidden: HiddenText): boolean {
    if (this.#failed.has(hidden.key) || this.#kept.has(hidden.key)) return true
    return hidden.kind === "blob" && this.#found.has(placeKey(hidden.cell, hidden.output, hidden.hash))
  }

  #tell(done = 0, total = 0): void {
    const hidden = this.#hidden()
    const isBusy = this.#doing !== "nothing"
    const left = isBusy ? [] : hidden.filter((text) => !this.#isKnown(text))
    const faults = hidden.flatMap(({ key }) => this.#failed.get(key) ?? [])
    this.status.set({ isBusy, done, total, left: { count: left.length, size: sizeOf(left) }, failed: faults.length, fault: faults[0] ?? null })
  }
}

function sizeOf(texts: readonly HiddenText[]): number {
  return texts.reduce((sum, { size }) => sum + size, 0)
}

function placeKey(cell: CellId, output: number, hash: string): string {
  return `${cell}/${output}/${hash}`
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
