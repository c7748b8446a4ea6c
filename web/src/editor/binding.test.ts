/** Typing on both sides of the binding: the editor and the notebook end with the same text, and undo is one's own. */

import { history, redo, undo } from "@codemirror/commands"
import { EditorState } from "@codemirror/state"
import type { Transaction, TransactionSpec } from "@codemirror/state"
import { describe, expect, test } from "vitest"
import { Random } from "../../testing/random.ts"
import { pointLength } from "../core/points.ts"
import { apply, difference } from "../core/text.ts"
import type { Edit, Splice } from "../core/types.gen.ts"
import { Binding } from "./binding.ts"
import { changesOf, editOf, pastedText, remoteTransaction } from "./changes.ts"

function stateOf(doc: string): EditorState {
  return EditorState.create({ doc, extensions: [EditorState.lineSeparator.of("\n"), history()] })
}

/** An editor without a page, bound to a text that others change too. */
class Desk {
  text: string
  state: EditorState
  isComposing = false
  readonly binding: Binding

  constructor(text: string) {
    this.text = text
    this.state = stateOf(text)
    this.binding = new Binding(
      { text: () => this.state.doc.toString(), isComposing: () => this.isComposing, dispatch: (spec) => this.dispatch(spec) },
      (edit) => void (this.text = apply(this.text, edit)),
    )
  }

  dispatch(spec: TransactionSpec): void {
    this.commit(this.state.update(spec))
  }

  commit(transaction: Transaction): void {
    this.state = transaction.state
    this.binding.typed([transaction])
  }

  /** Somebody else edits the text. */
  receive(edit: Edit): void {
    this.text = apply(this.text, edit)
    this.binding.receive(edit, this.text)
  }

  run(command: typeof undo): void {
    command({ state: this.state, dispatch: (transaction) => this.commit(transaction) })
  }

  get shown(): string {
    return this.state.doc.toString()
  }
}

/** An edit of a text that inserts `letters` only. */
function drawEdit(random: Random, text: string, letters: readonly string[]): Edit {
  const insert = (): string => Array.from({ length: random.integer(0, 3) }, () => random.pick(letters)).join("")
  return random.edit(pointLength(text)).map(([at, remove]): Splice => [at, remove, insert()])
}


test("a change is an edit in code points, and the edit is the same change", () => {
  for (let seed = 0; seed < 2000; seed += 1) {
    const random = new Random(seed)
    const text = random.text(8)
    const edit = random.edit(pointLength(text))
    const state = stateOf(text)
    const transaction = state.update({ changes: changesOf(edit, text) })
    expect(transaction.state.doc.toString()).toBe(apply(text, edit))
    expect(apply(text, editOf(transaction.changes, state.doc))).toBe(apply(text, edit))
  }
})

test("an edit past the end of the text changes what is there", () => {
  expect(stateOf("ab").update(remoteTransaction([[1, 5, "c"], [9, 1, "d"]], "ab")).state.doc.toString()).toBe("acd")
})

test("a carriage return of the source counts, and a pasted one does not come in", () => {
  const state = stateOf("a\r\nb")
  expect(state.doc.length).toBe(4)
  expect(editOf(state.update({ changes: { from: 4, insert: "!" } }).changes, state.doc)).toEqual([[4, 0, "!"]])
  expect(pastedText("a\r\nb\rc\n\ud800🦊")).toBe("a\nb\nc\n\ufffd🦊")
})

describe("typing here and elsewhere", () => {
  test("ends in one text, also while text is composed", () => {
    for (let seed = 0; seed < 3000; seed += 1) {
      const random = new Random(seed)
      const desk = new Desk("one\n🦊 two")
      for (let step = 0; step < 12; step += 1) {
        const choice = random.integer(0, 9)
        if (choice < 4) desk.dispatch({ changes: changesOf(random.edit(pointLength(desk.shown)), desk.shown) })
        else if (choice < 8) desk.receive(random.edit(pointLength(desk.text)))
        else if (choice === 8) desk.isComposing = !desk.isComposing
        else desk.run(random.chance(0.5) ? undo : redo)
        if (!desk.isComposing) desk.binding.release()
        if (!desk.isComposing) expect(desk.shown, `seed ${seed}, step ${step}`).toBe(desk.text)
      }
      desk.isComposing = false
      desk.binding.release()
      expect(desk.shown, `seed ${seed}`).toBe(desk.text)
    }
  })

  test("what others do during a composition is shown when it ends", () => {
    const desk = new Desk("x")
    desk.isComposing = true
    desk.receive([[0, 0, "theirs "]])
    expect(desk.shown).toBe("x")
    desk.dispatch({ changes: { from: 1, insert: "ん" } })
    expect(desk.text).toBe("theirs xん")
    desk.isComposing = false
    desk.binding.release()
    expect(desk.shown).toBe("theirs xん")
  })

  test("a text that differs from what it should be is put right", () => {
    const desk = new Desk("abc")
    desk.text = "abd"
    desk.receive([[0, 0, "x"]])
    expect(desk.shown).toBe("xabd")
  })
})

describe("undo", () => {
  /** How many of each letter of others there are. */
  function theirs(text: string): string {
    return Array.from(text).filter((char) => "XYZ🦊".includes(char)).join("")
  }

  test("takes back one's own typing and never what others wrote", () => {
    for (let seed = 0; seed < 3000; seed += 1) {
      const random = new Random(seed)
      const desk = new Desk("")
      for (let step = 0; step < 14; step += 1) {
        const choice = random.integer(0, 9)
        if (choice < 4) {
          // One's own typing only adds letters: what it removed of others' would come back with undo, and should.
          const at = random.integer(0, desk.shown.length)
          desk.dispatch({ changes: { from: isCut(desk.shown, at) ? at - 1 : at, insert: random.pick(["a", "b", "c"]) } })
        } else if (choice < 7) {
          desk.receive(drawEdit(random, desk.text, ["X", "Y", "Z", "🦊"]))
        } else {
          const before = theirs(desk.text)
          desk.run(random.chance(0.7) ? undo : redo)
          expect(theirs(desk.text), `seed ${seed}, step ${step}`).toBe(before)
        }
        expect(desk.shown).toBe(desk.text)
      }
    }
  })

  function isCut(text: string, at: number): boolean {
    return /[\ud800-\udbff]/.test(text.charAt(at - 1))
  }

  test("of all of one's own leaves what others wrote, in its order", () => {
    for (let seed = 0; seed < 500; seed += 1) {
      const random = new Random(seed)
      const desk = new Desk("")
      for (let step = 0; step < 10; step += 1) {
        if (random.chance(0.5)) desk.dispatch({ changes: { from: 0, insert: "a" } })
        else desk.receive([[random.integer(0, pointLength(desk.text)), 0, random.pick(["X", "Y", "Z"])]])
      }
      const before = theirs(desk.text)
      for (let step = 0; step < 10; step += 1) desk.run(undo)
      expect(desk.text, `seed ${seed}`).toBe(before)
    }
  })

  test("of a state that was put away and missed a change takes back what is left of one's own", () => {
    const desk = new Desk("start ")
    desk.dispatch({ changes: { from: 6, insert: "mine" } })
    const missed = difference(desk.shown, "THEIRS start mine")
    desk.commit(desk.state.update(remoteTransaction(missed, desk.shown)))
    desk.text = desk.shown
    desk.run(undo)
    expect(desk.text).toBe("THEIRS start ")
  })
})
