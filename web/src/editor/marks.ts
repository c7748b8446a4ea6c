/** Mark lines in the editor. A mark moves with its line, and goes once the line is changed. */

import { StateEffect, StateField } from "@codemirror/state"
import type { EditorState, Range, Transaction } from "@codemirror/state"
import { Decoration, EditorView } from "@codemirror/view"
import type { DecorationSet } from "@codemirror/view"
import type { LineMark } from "./props.ts"

export const setMarks = StateEffect.define<readonly LineMark[]>()

const errorLine = Decoration.line({ class: "cm-errorLine", attributes: { "aria-description": "The error was raised on this line" } })

export const lineMarks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (marks, transaction) => {
    for (const effect of transaction.effects) if (effect.is(setMarks)) return decorate(effect.value, transaction.state)
    return transaction.docChanged ? unchanged(marks, transaction).map(transaction.changes) : marks
  },
  provide: (field) => EditorView.decorations.from(field),
})

function decorate(marks: readonly LineMark[], { doc }: EditorState): DecorationSet {
  const lines: Range<Decoration>[] = []
  for (const { line } of marks) if (line >= 1 && line <= doc.lines) lines.push(errorLine.range(doc.line(line).from))
  return Decoration.set(lines, true)
}

function unchanged(marks: DecorationSet, { startState, changes }: Transaction): DecorationSet {
  return marks.update({
    filter: (from) => {
      const line = startState.doc.lineAt(from)
      return !changes.touchesRange(line.from, line.to)
    },
  })
}
