/** What outputs are given by the page that shows them. */

import type { CellId, Execution, ExecutionId, JsonObject, LogId } from "../core/types.gen.ts"

/** The hosts that this person allowed the frames of this notebook to load from. */
export interface AllowedHosts {
  readonly get: () => readonly string[]
  readonly allow: (host: string) => void
  readonly withdraw: (host: string) => void
  readonly subscribe: (listener: () => void) => () => void
}

export interface OutputContext {
  readonly log: LogId
  readonly nonce: string
  readonly blob: (hash: string) => Promise<Blob>
  readonly hosts: AllowedHosts
  /** Show a line of a cell's source. */
  readonly onGoToLine?: (cell: CellId, line: number) => void
  /** An execution with all of its outputs, where some were cut when the notebook was opened. */
  readonly whole?: (execution: ExecutionId) => Promise<Execution>
  /** The states of widgets as they were last saved. */
  readonly widgets?: () => Promise<JsonObject | null>
}
