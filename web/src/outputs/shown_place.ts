/** A place in an output that is to be seen. Who found it asks for it, and the output opens there if it folded it away. */

import type { CellId, ExecutionId, LogId } from "../core/types.gen.ts"

export interface OutputPlace {
  /** The output, as `outputName` names it. */
  readonly output: string
  /** From 1. */
  readonly line: number
  /** What stands in that line. */
  readonly text: string
}

/** Names an output among all of a page. */
export function outputName(log: LogId, cell: CellId, execution: ExecutionId, at: number): string {
  return `${log}/${cell}/${execution}/${at}`
}

let place: OutputPlace | null = null
const listeners = new Set<() => void>()

export const shownPlace = {
  get: (): OutputPlace | null => place,
  set: (next: OutputPlace | null): void => {
    place = next
    for (const listener of [...listeners]) listener()
  },
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  },
}
