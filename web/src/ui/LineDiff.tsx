/** A difference of two texts, line by line; a sign says what colour says too. core/line_diff.ts makes the lines. */

import { memo } from "react"

import css from "./LineDiff.module.css"

export type ShownLine =
  | {
      readonly kind: "same" | "removed" | "added"
      readonly text: string
      /** The line in parts: those that changed are marked. */
      readonly parts?: readonly { readonly text: string; readonly isMarked: boolean }[]
    }
  /** Lines that are left out. */
  | { readonly kind: "gap"; readonly count: number }

const SIGNS = { same: " ", removed: "−", added: "+" } as const
const WORDS = { same: "", removed: "removed: ", added: "added: " } as const

export const LineDiff = memo(function LineDiff({ lines, label }: { readonly lines: readonly ShownLine[]; readonly label: string }) {
  return (
    <div className={css["diff"]} role="group" aria-label={label} tabIndex={0}>
      {lines.map((line, index) =>
        line.kind === "gap" ? (
          <div key={index} className={css["gap"]}>
            {line.count === 1 ? "1 line" : `${line.count} lines`}
          </div>
        ) : (
          <div key={index} className={css["line"]} data-kind={line.kind}>
            <span className={css["signs"]} aria-hidden="true">
              {SIGNS[line.kind]}
            </span>
            {WORDS[line.kind] && <span className="visually-hidden">{WORDS[line.kind]}</span>}
            <code>{line.parts?.map((part, place) => (part.isMarked ? <mark key={place}>{part.text}</mark> : part.text)) ?? (line.text || " ")}</code>
          </div>
        ),
      )}
    </div>
  )
})
