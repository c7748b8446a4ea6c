/** Typing over selected text. Left to the browser, it writes a style into the line, which the page's policy forbids. */

import { EditorView } from "@codemirror/view"

export const typeOver = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { data, inputType } = event
    const { main, ranges } = view.state.selection
    const isTyped = inputType === "insertText" && data !== null && data !== ""
    if (!isTyped || main.empty || ranges.length > 1 || view.composing || view.state.readOnly) return false
    const insert = () => view.state.update(view.state.replaceSelection(data), { userEvent: "input.type", scrollIntoView: true })
    const handlers = view.state.facet(EditorView.inputHandler)
    if (!handlers.some((handle) => handle(view, main.from, main.to, data, insert))) view.dispatch(insert())
    return true
  },
})
