/**
 * What another window left in storage, or this one before it was closed: brought up to where the log is now.
 *
 * Edits in a journal are made on the texts that it has beside them. The entries that came since move them out of the way,
 * and settle what was recorded without anybody here knowing.
 */

import { appliedEdit, cellChanges } from "../core/events.ts"
import { apply } from "../core/text.ts"
import type { CellChange, CellId, Entry } from "../core/types.gen.ts"
import type { Journal } from "./live.ts"
import { Pending } from "./pending.ts"

/** The number after which entries matter to a journal. */
export function oldestText(journal: Journal, otherwise: number): number {
  return Math.min(otherwise, ...journal.texts.map(([, seq]) => seq), ...journal.pending.acts.map((act) => act.seq - 1))
}

/** What waits in `journal`, brought up by the entries that came since: `entries` begin behind the oldest of its texts. */
export function recover(journal: Journal, entries: readonly Entry[], now: number): Pending {
  const pending = Pending.read(journal.pending, now)
  const texts = new Map(journal.texts.map(([cell, seq, source]) => [cell, { seq, source }]))
  for (const entry of entries) {
    const isBehind = (cell: CellId): boolean => (texts.get(cell)?.seq ?? 0) < entry.seq
    pending.receive(entry, (cell) => texts.get(cell)?.source, isBehind)
    for (const change of cellChanges(entry.event).filter(({ cell }) => isBehind(cell))) {
      const { seq, source: before } = texts.get(change.cell) ?? { seq: 0, source: undefined }
      const source = textAfter(change, before)
      if (source !== undefined) texts.set(change.cell, { seq, source })
    }
  }
  return pending
}

function textAfter(change: CellChange, before: string | undefined): string | undefined {
  if (change.type === "cell_added") return change.source ?? ""
  if (change.type !== "source_edited" || before === undefined) return before
  return change.text ?? apply(before, appliedEdit(change))
}
