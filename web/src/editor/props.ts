/** What an editor of a cell is given, and tells. Positions are code points, as in the log. */

import type { CellId, CellKind, Edit, JsonObject, LogId } from "../core/types.gen.ts"

/** The mark of a line, counted from 1. */
export interface LineMark {
  readonly line: number
  readonly kind: "error"
}

export interface Range {
  readonly from: number
  readonly to: number
}

/** Where somebody else is in the text as it is now. */
export interface PeerSelection extends Range {
  readonly window: string
  readonly name: string
  /** 0 to 7, for --peer-N. */
  readonly colour: number
}

/** Where the cursor is when a key is pressed. */
export interface KeyPlace {
  readonly atStart: boolean
  readonly atEnd: boolean
  /** Whether the cursor is in the first, or last, line as it is shown: a long line has several. */
  readonly isFirstLine: boolean
  readonly isLastLine: boolean
  readonly position: number
  /** Whether completions or an inspection are shown: Esc closes them first, without asking. */
  readonly hasPopup: boolean
}

/** Where the cursor is put, which also focuses the editor: by place, by range, or where the mouse clicked. */
export type InitialPlace = "start" | "end" | Range | { readonly x: number; readonly y: number }

/** What a kernel answers to a question: a reply of Jupyter's; or, in words, why it cannot yet; or nothing. */
export type KernelAnswer =
  | { readonly kind: "answer"; readonly content: JsonObject }
  | { readonly kind: "busy"; readonly text: string }
  | { readonly kind: "none" }

export interface CellEditorProps {
  /** With the cell, names the editor's undo history: two notebooks may have cells of one name. */
  readonly log?: LogId
  readonly cell: CellId
  readonly kind: CellKind
  /** As the kernel names it: "python", "sql", "markdown", "R"… */
  readonly language: string
  /** The text when the editor is mounted; later changes come through `watch`. */
  readonly source: string
  /** The text at this moment, for an editor that is mounted later than it was rendered. */
  readSource?(): string
  watch(listener: (edit: Edit, source: string) => void): () => void
  onType(edit: Edit): void
  /** The selection moved; null when the editor lost the focus. */
  onSelection(selection: Range | null): void
  /** Asked before the editor's own keys. Returns whether it was handled. */
  onKey(event: KeyboardEvent, place: KeyPlace): boolean
  readonly peers: { get(): readonly PeerSelection[]; subscribe(listener: () => void): () => void }
  /** A kernel's complete_reply. */
  complete(code: string, position: number): Promise<KernelAnswer>
  /** Call `then` once, when a kernel that was busy may have time to answer. Returns what stops the waiting. */
  whenKernelReady(then: () => void): () => void
  /** A kernel's inspect_reply, or null. */
  inspect(code: string, position: number, detail: 0 | 1): Promise<JsonObject | null>
  /** Files were pasted or dropped. Returns whether they were taken. */
  onPasteFiles?(files: readonly File[]): boolean
  readonly marks?: readonly LineMark[] | undefined
  readonly placeholder?: string | undefined
  readonly readOnly?: boolean | undefined
  readonly nonce: string
  readonly initial?: InitialPlace | undefined
}

/** The props as they are now. Extensions live longer than one render, and ask for them each time. */
export type CurrentProps = () => CellEditorProps
