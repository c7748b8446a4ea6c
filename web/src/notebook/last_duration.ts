/** How long a cell took the time before: asked of the server, once for an execution, where this page did not see it. */

import type { CellId, Entry, ExecutionId } from "../core/types.gen.ts"
import { Value } from "../sync/store.ts"

/** What is asked of the server: when the executions of a cell began and ended. */
type ReadRuns = (cell: CellId) => Promise<readonly Entry[]>

export class LastDurations {
  /** Seconds, by the execution that runs now; null when the cell never ran before. */
  readonly known = new Value<ReadonlyMap<ExecutionId, number | null>>(new Map())
  readonly #readRuns: ReadRuns
  readonly #asked = new Set<ExecutionId>()

  constructor(readRuns: ReadRuns) {
    this.#readRuns = readRuns
  }

  /** Find out how long the execution before this one took. */
  async ask(cell: CellId, execution: ExecutionId): Promise<void> {
    if (this.#asked.has(execution)) return
    this.#asked.add(execution)
    try {
      const seconds = lastDuration(await this.#readRuns(cell), execution)
      this.known.set(new Map(this.known.get()).set(execution, seconds))
    } catch {
      // Said nowhere: the line does without it. It is asked again when the cell is drawn anew.
      this.#asked.delete(execution)
    }
  }
}

/** How many seconds the last execution took that ended before this one began; null without one. */
export function lastDuration(entries: readonly Entry[], execution: ExecutionId): number | null {
  const begun = new Map<ExecutionId, number>()
  let last: number | null = null
  for (const { event, at } of entries) {
    if (event.type === "execution_started") {
      if (event.execution === execution) break
      begun.set(event.execution, Date.parse(at))
    } else if (event.type === "execution_finished") {
      const from = begun.get(event.execution)
      if (from !== undefined) last = Math.max(0, Date.parse(at) - from) / 1000
    }
  }
  return last
}
