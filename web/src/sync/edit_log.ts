/**
 * The edits of cells that a proposal is carried over: read from the log when somebody wants to know.
 *
 * The fold has texts and no edits. As long as nobody changed a cell after a number, nothing is asked of the server.
 */

import { earlierEdits } from "../core/proposal_preview.ts"
import type { EarlierEdit } from "../core/proposal_preview.ts"
import type { CellId, Entry, LogId, Notebook } from "../core/types.gen.ts"
import type { Api } from "./api.ts"
import { textEntries } from "./api_proposals.ts"
import { Value } from "./store.ts"

/** How long after a failure it is asked again. */
const RETRY_MILLISECONDS = 3000

interface EditLogParts {
  readonly api: Api
  readonly clock: { after(milliseconds: number, call: () => void): unknown }
}

export class EditLog {
  /** Counts up with each answer of the server: who got `unknown` asks again. */
  readonly version = new Value(0)
  readonly #log: LogId
  readonly #parts: EditLogParts
  #entries: readonly Entry[] = []
  /** The entries after `from`, up to `until`, are known. */
  #from = Infinity
  #until = 0
  #isAsking = false

  constructor(log: LogId, parts: EditLogParts) {
    this.#log = log
    this.#parts = parts
  }

  /** The edits of a cell after a number, up to what the notebook is folded from. */
  of(now: Notebook, cell: CellId, base: number): readonly EarlierEdit[] | "unknown" | "added" {
    const changed = now.cells.get(cell)?.changed_seq ?? 0
    if (changed <= base) return []
    if (this.#from > base || this.#until < changed) {
      void this.#ask(base, now.seq)
      return "unknown"
    }
    return earlierEdits(this.#entries.filter(({ seq }) => seq <= now.seq), cell, base)
  }

  async #ask(base: number, until: number): Promise<void> {
    if (this.#isAsking) return
    this.#isAsking = true
    try {
      if (base < this.#from) {
        this.#entries = await textEntries(this.#parts.api, this.#log, base, until)
        this.#from = base
      } else {
        this.#entries = [...this.#entries, ...(await textEntries(this.#parts.api, this.#log, this.#until, until))]
      }
      this.#until = until
      this.#isAsking = false
      this.version.set(this.version.get() + 1)
    } catch {
      // The server is away: asked again later.
      this.#parts.clock.after(RETRY_MILLISECONDS, () => {
        this.#isAsking = false
        this.version.set(this.version.get() + 1)
      })
    }
  }
}
