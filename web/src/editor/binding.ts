/**
 * Keep the editor's text and the notebook's the same.
 *
 * What is typed is reported at once, as one edit for each transaction. What others typed is put into the editor at once,
 * except while text is composed with an input method: a change to the page would break the composition off. Until it
 * ends, their edits are held; what is composed meanwhile is moved over them before it is reported, and they over it.
 */

import type { Transaction, TransactionSpec } from "@codemirror/state"
import { compose, difference, transform } from "../core/text.ts"
import type { Edit } from "../core/types.gen.ts"
import { editOf, Remote, remoteTransaction } from "./changes.ts"

/** The editor, as far as its text goes. */
export interface BoundEditor {
  text(): string
  isComposing(): boolean
  dispatch(transaction: TransactionSpec): void
}

export class Binding {
  readonly #editor: BoundEditor
  readonly #report: (edit: Edit) => void
  /** Others' edits that the editor does not show yet, in code points of its text. */
  #held: Edit = []

  constructor(editor: BoundEditor, report: (edit: Edit) => void) {
    this.#editor = editor
    this.#report = report
  }

  /** The editor made these transactions: report what was typed. */
  typed(transactions: readonly Transaction[]): void {
    for (const { docChanged, changes, startState, annotation } of transactions.map(readTransaction)) {
      if (!docChanged || annotation) continue
      const [edit, held] = transform(editOf(changes, startState.doc), this.#held)
      this.#held = held
      this.#report(edit)
    }
  }

  /** Somebody else changed the text, which is `source` now. */
  receive(edit: Edit, source: string): void {
    this.#held = compose(this.#held, edit)
    this.release()
    if (this.#held.length === 0 && this.#editor.text() !== source) this.#show(difference(this.#editor.text(), source))
  }

  /** Show what was held, unless text is being composed. */
  release(): void {
    if (this.#held.length === 0 || this.#editor.isComposing()) return
    const edit = this.#held
    this.#held = []
    this.#show(edit)
  }

  #show(edit: Edit): void {
    this.#editor.dispatch(remoteTransaction(edit, this.#editor.text()))
  }
}

function readTransaction(transaction: Transaction) {
  const { docChanged, changes, startState } = transaction
  return { docChanged, changes, startState, annotation: transaction.annotation(Remote) }
}
