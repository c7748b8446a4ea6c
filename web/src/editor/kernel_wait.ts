/**
 * The line at the cursor that says why the kernel does not complete yet. Once it may, completions are asked for again,
 * as long as the cursor has not moved.
 */

import { startCompletion } from "@codemirror/autocomplete"
import { StateEffect, StateField } from "@codemirror/state"
import type { Extension } from "@codemirror/state"
import { EditorView, showTooltip } from "@codemirror/view"
import type { Tooltip } from "@codemirror/view"
import { Remote } from "./changes.ts"
import type { CurrentProps } from "./props.ts"

interface KernelWait {
  readonly pos: number
  readonly text: string
  /** How often the kernel was asked here. */
  readonly tries: number
  /** Stops waiting for the kernel. */
  readonly stop: () => void
}

const MOST_TRIES = 8

const setWait = StateEffect.define<KernelWait | null>()

const shownWait = StateField.define<KernelWait | null>({
  create: () => null,
  update: (wait, transaction) => {
    for (const effect of transaction.effects) if (effect.is(setWait)) return effect.value
    const isTyped = transaction.docChanged && transaction.annotation(Remote) === undefined
    if (!wait || isTyped || transaction.selection !== undefined) return null
    return transaction.docChanged ? { ...wait, pos: transaction.changes.mapPos(wait.pos) } : wait
  },
  provide: (field) => showTooltip.compute([field], (state) => tooltip(state.field(field))),
})

function tooltip(wait: KernelWait | null): Tooltip | null {
  return wait && { pos: wait.pos, create: () => ({ dom: element(wait.text) }) }
}

function element(text: string): HTMLElement {
  const box = document.createElement("div")
  box.className = "cm-kernelWait"
  box.setAttribute("role", "status")
  box.textContent = text
  return box
}

/** Say why the kernel does not answer, and complete again once it is ready. One that never answers is given up. */
export function waitForKernel(view: EditorView, text: string, props: CurrentProps): void {
  if (!view.dom.isConnected || !view.hasFocus) return
  const tries = (view.state.field(shownWait)?.tries ?? 0) + 1
  if (tries > MOST_TRIES) return void endKernelWait(view)
  const stop = props().whenKernelReady(() => {
    if (view.state.field(shownWait, false)?.stop === stop) startCompletion(view)
  })
  view.dispatch({ effects: setWait.of({ pos: view.state.selection.main.head, text, tries, stop }) })
}

/** Take the line away: the kernel has answered. */
export function endKernelWait(view: EditorView): void {
  if (view.state.field(shownWait, false)) view.dispatch({ effects: setWait.of(null) })
}

export function kernelWait(): Extension {
  return [
    shownWait,
    EditorView.updateListener.of(({ view, startState, state, focusChanged }) => {
      const [before, now] = [startState.field(shownWait), state.field(shownWait)]
      if (before && before.stop !== now?.stop) before.stop()
      if (now && focusChanged && !view.hasFocus) queueMicrotask(() => endKernelWait(view))
    }),
  ]
}
