/** Edits of the log and changes of the editor, turned into each other: code points here, UTF-16 units there. */

import { Annotation, Transaction } from "@codemirror/state"
import type { ChangeSet, ChangeSpec, Text, TransactionSpec } from "@codemirror/state"
import { toPoints, toUnits } from "../core/points.ts"
import type { Edit, Splice } from "../core/types.gen.ts"

/** Marks a change that was not typed here: it is not reported, and undo passes it by. */
export const Remote = Annotation.define<true>()

/** What was done to a text, in its code points. */
export function editOf(changes: ChangeSet, before: Text): Edit {
  const splices: Splice[] = []
  changes.iterChanges((from, to, _start, _end, inserted) => splices.push([from, to - from, inserted.toString()]))
  return toPoints(before.toString(), splices)
}

/** An edit of a text as changes for the editor that shows it. What lies past the end is ignored. */
export function changesOf(edit: Edit, text: string): ChangeSpec[] {
  return toUnits(text, edit).map(([at, remove, insert]) => {
    const from = Math.min(at, text.length)
    return { from, to: Math.min(at + remove, text.length), insert }
  })
}

/** The transaction that shows an edit that was not typed here. */
export function remoteTransaction(edit: Edit, text: string): TransactionSpec {
  return {
    changes: changesOf(edit, text),
    annotations: [Remote.of(true), Transaction.addToHistory.of(false), Transaction.remote.of(true)],
  }
}

/** Pasted text as it goes into a cell: lines end in a line feed, and no surrogate is alone. */
export function pastedText(text: string): string {
  return text.replaceAll(/\r\n?/g, "\n").replaceAll(/[\ud800-\udfff]/gu, "\ufffd")
}
