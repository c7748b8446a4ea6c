/** Which key does what in the editor. The page is asked first, unless a popup is open that the key is for. */

import { acceptCompletion, closeBracketsKeymap, closeCompletion, completionKeymap, completionStatus, startCompletion } from "@codemirror/autocomplete"
import { defaultKeymap, historyKeymap, indentLess, indentMore } from "@codemirror/commands"
import { selectNextOccurrence } from "@codemirror/search"
import { countColumn, EditorSelection, Prec } from "@codemirror/state"
import type { EditorState, Extension } from "@codemirror/state"
import { EditorView, keymap } from "@codemirror/view"
import type { Command, KeyBinding } from "@codemirror/view"
import { pointAt } from "../core/points.ts"
import { closeInspection, hasInspection, inspectAtCursor } from "./inspection.ts"
import type { CurrentProps, KeyPlace } from "./props.ts"

const INDENT = 4
const COMPLETION_KEYS: ReadonlySet<string> = new Set(["Enter", "Tab", "ArrowUp", "ArrowDown", "PageUp", "PageDown"])

/** Keys that the page has elsewhere: they do nothing here if it does not take them. */
const OF_THE_PAGE: ReadonlySet<string> = new Set(["Mod-Enter", "Alt-l"])

export function keys(props: CurrentProps): Extension {
  const bindings: KeyBinding[] = [
    { key: "Tab", run: (view) => completeOrIndent(view, props), shift: (view) => inspectOrDedent(view, props) },
    { key: "Escape", run: closePopups },
    { key: "Shift-Enter", run: () => true },
    { key: "Mod-d", run: selectNextOccurrence, preventDefault: true },
    ...closeBracketsKeymap,
    ...historyKeymap,
    ...completionKeymap,
    ...defaultKeymap.filter(({ key }) => !key || !OF_THE_PAGE.has(key)),
  ]
  const askPage = EditorView.domEventHandlers({ keydown: (event, view) => isHandledByPage(event, view, props) })
  return [Prec.highest(askPage), keymap.of(bindings)]
}

function isHandledByPage(event: KeyboardEvent, view: EditorView, props: CurrentProps): boolean {
  if (event.isComposing || event.key === "Process" || isForEditor(event, view.state)) return false
  return props().onKey(event, placeOf(view))
}

/** Whether a key is for what is open above the text: it is not the page's. */
function isForEditor(event: KeyboardEvent, state: EditorState): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return false
  const isCompleting = completionStatus(state) === "active"
  if (event.key === "Escape") return isCompleting || hasInspection(state) || state.selection.ranges.length > 1
  return isCompleting && COMPLETION_KEYS.has(event.key)
}

function placeOf(view: EditorView): KeyPlace {
  const { doc, selection } = view.state
  const { head, empty } = selection.main
  return {
    atStart: empty && head === 0,
    atEnd: empty && head === doc.length,
    isFirstLine: isShownBeside(view, head, 0),
    isLastLine: isShownBeside(view, head, doc.length),
    position: pointAt(doc.toString(), head),
    hasPopup: completionStatus(view.state) === "active" || hasInspection(view.state),
  }
}

/** Whether two positions are in one line as it is shown; a line that is too long is shown in several. */
function isShownBeside(view: EditorView, one: number, other: number): boolean {
  const { doc } = view.state
  if (doc.lineAt(one).number !== doc.lineAt(other).number) return false
  const [top, otherTop] = [view.coordsAtPos(one)?.top, view.coordsAtPos(other)?.top]
  return top === undefined || otherTop === undefined || Math.abs(top - otherTop) < view.defaultLineHeight / 2
}

/** Close the inspection. Completions that are still looked for are given up, and take no Escape of their own. */
const closePopups: Command = (view) => {
  if (completionStatus(view.state) === "pending") closeCompletion(view)
  return closeInspection(view)
}

function completeOrIndent(view: EditorView, props: CurrentProps): boolean {
  if (completionStatus(view.state) === "active") {
    // It takes nothing in the first moment, so that a list that just opened is not chosen from by accident.
    acceptCompletion(view)
    return true
  }
  const { main } = view.state.selection
  if (!main.empty) return indentMore(view)
  const before = view.state.doc.lineAt(main.head)
  const isBehindWord = /[\p{L}\p{N}_.]$/u.test(before.text.slice(0, main.head - before.from))
  if (isBehindWord && props().kind !== "markdown" && props().kind !== "raw") return startCompletion(view)
  return insertIndent(view)
}

/** Spaces up to the next column that is a multiple of four. */
const insertIndent: Command = (view) => {
  const { state } = view
  if (state.readOnly) return false
  const change = state.changeByRange((range) => {
    const line = state.doc.lineAt(range.from)
    const column = countColumn(line.text, state.tabSize, range.from - line.from)
    const insert = " ".repeat(INDENT - (column % INDENT))
    return { changes: { from: range.from, to: range.to, insert }, range: EditorSelection.cursor(range.from + insert.length) }
  })
  view.dispatch(state.update(change, { scrollIntoView: true, userEvent: "input.indent" }))
  return true
}

function inspectOrDedent(view: EditorView, props: CurrentProps): boolean {
  const { doc, selection } = view.state
  const { head, empty } = selection.main
  const line = doc.lineAt(head)
  const isInIndent = line.text.slice(0, head - line.from).trim() === ""
  if (!empty || isInIndent || props().kind !== "code") return indentLess(view)
  closeCompletion(view)
  return inspectAtCursor(view, props)
}
