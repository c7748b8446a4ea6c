/**
 * The editor of one cell, over all the times it is mounted: its state, and with it its undo history, outlives the view.
 *
 * The extensions ask for the props of the moment, because they outlive those too.
 */

import { closeBrackets, closeCompletion } from "@codemirror/autocomplete"
import { history } from "@codemirror/commands"
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language"
import { highlightSelectionMatches } from "@codemirror/search"
import { Compartment, EditorState, Text } from "@codemirror/state"
import type { Extension, Transaction, TransactionSpec } from "@codemirror/state"
import { crosshairCursor, drawSelection, dropCursor, EditorView, placeholder, rectangularSelection, tooltips } from "@codemirror/view"
import type { ViewUpdate } from "@codemirror/view"
import { hasPairs, pointAt, unitAt } from "../core/points.ts"
import { difference } from "../core/text.ts"
import { Binding } from "./binding.ts"
import { pastedText, remoteTransaction } from "./changes.ts"
import { completion } from "./completion.ts"
import { HIGHLIGHTER } from "./highlight.ts"
import { closeInspection, inspection } from "./inspection.ts"
import { showInvisible } from "./invisible.ts"
import { keys } from "./keys.ts"
import { languageExtension, languageOf } from "./languages.ts"
import { lineMarks, setMarks } from "./marks.ts"
import { peers } from "./peers.ts"
import type { CellEditorProps, InitialPlace, Range } from "./props.ts"
import { SessionCache } from "./session_cache.ts"
import { theme } from "./theme.ts"
import { typeOver } from "./type_over.ts"

/** How many cells keep their undo history. */
const MOST_SESSIONS = 60
const sessions = new SessionCache<CellSession>(MOST_SESSIONS)

/** The session of the cell that the props are of. */
export function sessionOf(props: CellEditorProps): CellSession {
  return sessions.take(`${props.log ?? ""}/${props.cell}`, () => new CellSession(props))
}

export class CellSession {
  readonly #configured = new Compartment()
  readonly #binding: Binding
  #props: CellEditorProps
  #state: EditorState
  #view: EditorView | null = null
  #selection: Range | null = null

  constructor(props: CellEditorProps) {
    this.#props = props
    this.#state = EditorState.create({ doc: props.source, extensions: this.#extensions() })
    this.#binding = new Binding(
      {
        text: () => this.state.doc.toString(),
        isComposing: () => this.#view?.composing === true,
        dispatch: (transaction) => this.#view?.dispatch(transaction),
      },
      (edit) => this.#props.onType(edit),
    )
  }

  get state(): EditorState {
    return this.#view?.state ?? this.#state
  }

  /** Show the editor in `parent`, with the text as it is now. Returns what takes it away again. */
  mount(parent: HTMLElement, props: CellEditorProps): () => void {
    this.#props = props
    this.#selection = null
    const source = props.readSource?.() ?? props.source
    const missed = difference(this.#state.doc.toString(), source)
    if (missed.length) this.#state = this.#state.update(remoteTransaction(missed, this.#state.doc.toString())).state
    this.#state = this.#state.update({ effects: this.#configured.reconfigure(configuration(props, this.#state.doc)) }).state
    const view = new EditorView({ state: this.#state, parent })
    this.#view = view
    const stop = props.watch((edit, text) => this.#binding.receive(edit, text))
    if (props.marks) view.dispatch({ effects: setMarks.of(props.marks) })
    if (props.initial !== undefined) this.place(props.initial)
    return () => {
      stop()
      closeCompletion(view)
      closeInspection(view)
      this.#state = view.state
      this.#view = null
      view.destroy()
      if (this.#selection) this.#props.onSelection(null)
    }
  }

  /** Take the props of another render. */
  update(props: CellEditorProps): void {
    const before = this.#props
    this.#props = props
    if (isConfiguredAlike(before, props)) return
    this.#view?.dispatch({ effects: this.#configured.reconfigure(configuration(props, this.#view.state.doc)) })
  }

  mark(marks: CellEditorProps["marks"]): void {
    this.#view?.dispatch({ effects: setMarks.of(marks ?? []) })
  }

  /** Put the cursor somewhere and focus the editor. */
  place(place: InitialPlace): void {
    const view = this.#view
    if (!view) return
    const { anchor, head } = selectionAt(view, place)
    view.focus()
    view.dispatch({ selection: { anchor, head }, scrollIntoView: typeof place === "object" && "from" in place })
  }

  #extensions(): Extension {
    const props = (): CellEditorProps => this.#props
    return [
      EditorState.lineSeparator.of("\n"),
      EditorState.tabSize.of(4),
      EditorState.allowMultipleSelections.of(true),
      EditorView.cspNonce.of(this.#props.nonce),
      EditorView.clipboardInputFilter.of(pastedText),
      EditorView.lineWrapping,
      indentUnit.of("    "),
      history(),
      drawSelection(),
      dropCursor(),
      rectangularSelection(),
      crosshairCursor(),
      showInvisible(),
      bracketMatching(),
      closeBrackets(),
      typeOver,
      indentOnInput(),
      highlightSelectionMatches({ minSelectionLength: 2 }),
      syntaxHighlighting(HIGHLIGHTER),
      // In the cell they would be cut off at its edge: it contains what is painted.
      tooltips({ parent: document.body }),
      keys(props),
      completion(props),
      inspection(props),
      peers(props),
      lineMarks,
      theme,
      this.#configured.of(configuration(this.#props, Text.of(this.#props.source.split("\n")))),
      EditorState.transactionExtender.of((transaction) => this.#withLanguage(transaction)),
      EditorView.updateListener.of((update) => this.#updated(update)),
      EditorView.domEventHandlers({
        paste: (event) => this.#takeFiles(event.clipboardData),
        drop: (event) => {
          this.#takeFiles(event.dataTransfer)
          // Otherwise the editor would read files as text; the page has a place for them.
          return (event.dataTransfer?.files.length ?? 0) > 0
        },
        compositionend: () => void setTimeout(() => this.#binding.release()),
        blur: () => void setTimeout(() => this.#binding.release()),
      }),
    ]
  }

  /** A first line that becomes a magic, as `%%sql`, changes the language with it. */
  #withLanguage({ docChanged, startState, newDoc }: Transaction): Pick<TransactionSpec, "effects"> | null {
    if (!docChanged || languageOf(this.#props, startState.doc) === languageOf(this.#props, newDoc)) return null
    return { effects: this.#configured.reconfigure(configuration(this.#props, newDoc)) }
  }

  #takeFiles(data: DataTransfer | null): boolean {
    const files = Array.from(data?.files ?? [])
    return files.length > 0 && (this.#props.onPasteFiles?.(files) ?? false)
  }

  #updated(update: ViewUpdate): void {
    if (update.docChanged) this.#binding.typed(update.transactions)
    if (update.docChanged || update.selectionSet || update.focusChanged) this.#reportSelection(update.view)
    if (!update.view.composing) queueMicrotask(() => this.#binding.release())
  }

  #reportSelection(view: EditorView): void {
    const selection = view.hasFocus ? selectionOf(view.state) : null
    if (selection?.from === this.#selection?.from && selection?.to === this.#selection?.to) return
    this.#selection = selection
    this.#props.onSelection(selection)
  }
}

/** What depends on the props and may change while the editor is mounted. */
function configuration(props: CellEditorProps, text: Text): Extension {
  const { kind, readOnly = false, placeholder: hint } = props
  const isText = kind === "markdown" || kind === "raw"
  return [
    languageExtension(languageOf(props, text)),
    EditorState.readOnly.of(readOnly),
    EditorView.editable.of(!readOnly),
    hint ? placeholder(hint) : [],
    EditorView.contentAttributes.of({
      "aria-label": isText ? "Text of the cell" : "Code of the cell",
      ...(isText ? { spellcheck: "true", autocorrect: "on", autocapitalize: "sentences" } : {}),
      ...(readOnly ? { tabindex: "0" } : {}),
    }),
  ]
}

function isConfiguredAlike(one: CellEditorProps, other: CellEditorProps): boolean {
  return (
    one.kind === other.kind &&
    one.language === other.language &&
    one.readOnly === other.readOnly &&
    one.placeholder === other.placeholder
  )
}

function selectionOf({ doc, selection }: EditorState): Range {
  const { from, to } = selection.main
  const text = doc.toString()
  return hasPairs(text) ? { from: pointAt(text, from), to: pointAt(text, to) } : { from, to }
}

function selectionAt(view: EditorView, place: InitialPlace): { anchor: number; head: number } {
  const text = view.state.doc.toString()
  if (place === "start") return { anchor: 0, head: 0 }
  if (place === "end") return { anchor: text.length, head: text.length }
  if ("x" in place) {
    const at = view.posAtCoords(place, false)
    return { anchor: at, head: at }
  }
  return { anchor: unitAt(text, place.from), head: unitAt(text, place.to) }
}
