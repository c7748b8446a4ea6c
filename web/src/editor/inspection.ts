/**
 * Inspect from the kernel: what is at the cursor (Shift-Tab, a second time for more), and the signature of a function
 * whose parenthesis was just opened.
 */

import { StateEffect, StateField } from "@codemirror/state"
import type { EditorState, Extension, Transaction } from "@codemirror/state"
import { EditorView, showTooltip } from "@codemirror/view"
import type { Tooltip, ViewUpdate } from "@codemirror/view"
import { pointAt } from "../core/points.ts"
import { readInspection, readSignature } from "./kernel_replies.ts"
import { Remote } from "./changes.ts"
import type { CurrentProps } from "./props.ts"

interface Inspection {
  /** Where it stands: behind the parenthesis of a signature, else at the cursor. */
  readonly pos: number
  readonly text: string
  readonly kind: "details" | "signature"
  readonly detail: 0 | 1
}

const setInspection = StateEffect.define<Inspection | null>()

const shownInspection = StateField.define<Inspection | null>({
  create: () => null,
  update: (shown, transaction) => {
    for (const effect of transaction.effects) if (effect.is(setInspection)) return effect.value
    return shown && isStillAt(shown, transaction) ? { ...shown, pos: transaction.changes.mapPos(shown.pos) } : null
  },
  provide: (field) => showTooltip.compute([field], (state) => tooltip(state.field(field))),
})

function isStillAt(shown: Inspection, transaction: Transaction): boolean {
  if (shown.kind === "signature") return isInCall(transaction.state, transaction.changes.mapPos(shown.pos))
  const isTyped = transaction.docChanged && transaction.annotation(Remote) === undefined
  return !isTyped && transaction.selection === undefined
}

const MOST_ARGUMENTS = 2000

/** Whether the cursor is between the parenthesis before `open` and the one that closes it. */
function isInCall({ doc, selection }: EditorState, open: number): boolean {
  const { head, empty } = selection.main
  if (!empty || head < open || head - open > MOST_ARGUMENTS) return false
  let depth = 0
  for (const char of doc.sliceString(open, head)) {
    if ("([{".includes(char)) depth += 1
    else if (")]}".includes(char)) depth -= 1
    if (depth < 0) return false
  }
  return doc.sliceString(open - 1, open) === "("
}

function tooltip(shown: Inspection | null): Tooltip | null {
  if (!shown) return null
  return { pos: shown.pos, above: shown.kind === "signature", create: () => ({ dom: element(shown) }) }
}

function element({ text, kind }: Inspection): HTMLElement {
  const box = document.createElement("div")
  box.className = `cm-inspection cm-inspection-${kind}`
  box.setAttribute("role", "status")
  box.textContent = text
  return box
}

/** Whether an inspection is shown. */
export function hasInspection(state: EditorState): boolean {
  return state.field(shownInspection, false) != null
}

/** Close the inspection. Returns whether there was one. */
export function closeInspection(view: EditorView): boolean {
  if (!hasInspection(view.state)) return false
  view.dispatch({ effects: setInspection.of(null) })
  return true
}

/** Ask the kernel about what is at the cursor; asked again, in more detail. */
export function inspectAtCursor(view: EditorView, props: CurrentProps): boolean {
  const { doc, selection } = view.state
  const before = view.state.field(shownInspection)
  const detail = before?.kind === "details" ? 1 : 0
  const pos = selection.main.head
  const isMeant = (): boolean => view.state.doc.eq(doc) && view.state.selection.main.head === pos
  void ask(view, props, { pos, detail, kind: "details" }, isMeant)
  return true
}

type Question = Omit<Inspection, "text">

async function ask(view: EditorView, props: CurrentProps, question: Question, isMeant: () => boolean): Promise<void> {
  const code = view.state.doc.toString()
  const found = readInspection(await props().inspect(code, pointAt(code, question.pos), question.detail))
  const text = found && (question.kind === "signature" ? readSignature(found) : found)
  if (text && view.dom.isConnected && isMeant()) view.dispatch({ effects: setInspection.of({ ...question, text }) })
}

/** Ask for the signature once a parenthesis is typed. */
function askForSignature({ view, transactions, state }: ViewUpdate, props: CurrentProps): void {
  if (props().kind !== "code" || !transactions.some((transaction) => transaction.isUserEvent("input.type"))) return
  const { head, empty } = state.selection.main
  if (!empty || state.doc.sliceString(head - 1, head) !== "(" || !/[\p{L}\p{N}_\])]/u.test(state.doc.sliceString(head - 2, head - 1))) return
  const isMeant = (): boolean => head <= view.state.doc.length && isInCall(view.state, head)
  void ask(view, props, { pos: head, detail: 0, kind: "signature" }, isMeant)
}

export function inspection(props: CurrentProps): Extension {
  return [
    shownInspection,
    EditorView.updateListener.of((update) => {
      if (update.docChanged) askForSignature(update, props)
      if (update.focusChanged && !update.view.hasFocus) queueMicrotask(() => closeInspection(update.view))
    }),
  ]
}
