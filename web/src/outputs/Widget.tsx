/** A widget as it was last saved: not live. */

import { memo } from "react"
import type { Display } from "../core/types.gen.ts"
import { harmless } from "../core/visible.ts"
import { Notice } from "./Actions.tsx"
import type { OutputContext } from "./context.ts"
import { textOf } from "./media.ts"
import { TerminalText } from "./TerminalText.tsx"
import { useLoaded } from "./use_loaded.ts"
import { savedWidget } from "./widget_state.ts"
import type { SavedWidget } from "./widget_state.ts"
import css from "./Widget.module.css"

export const Widget = memo(function Widget({ display, context }: { readonly display: Display; readonly context: OutputContext }) {
  const states = useLoaded(display, async () => (await context.widgets?.()) ?? null)
  const saved = states.state === "there" ? savedWidget(display, states.value) : null
  const plain = textOf(display.data?.["text/plain"])
  return (
    <div className={css["widget"]} data-output="widget">
      {saved ? <SavedView widget={saved} /> : plain && <TerminalText text={plain} />}
      <Notice text={saved ? "Widget as last saved, not live." : "A widget. It is not live here, and no state of it was saved."} />
    </div>
  )
})

function SavedView({ widget }: { readonly widget: SavedWidget }) {
  const { label, value, part, children, kind } = widget
  if (children.length) {
    return (
      <div className={css["children"]}>
        {children.map((child, at) => (
          <SavedView key={at} widget={child} />
        ))}
      </div>
    )
  }
  return (
    <div className={css["line"]}>
      {label && <span className={css["label"]}>{harmless(label)}</span>}
      {part !== null && <meter min={0} max={1} value={part} aria-label={label || kind} />}
      <span>{harmless(value) || kind}</span>
    </div>
  )
}
