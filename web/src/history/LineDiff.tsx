/** A difference of two texts, line by line; a sign says what colour says too. */

import { memo, useMemo } from "react"

import { visible } from "../core/visible.ts"
import css from "./History.module.css"
import { lineDiff, withoutSame } from "./line_diff.ts"

const SIGNS = { same: " ", removed: "−", added: "+" } as const
const WORDS = { same: "", removed: "removed: ", added: "added: " } as const

export const LineDiff = memo(function LineDiff({ before, after, label }: { readonly before: string; readonly after: string; readonly label: string }) {
  const lines = useMemo(() => withoutSame(lineDiff(before, after)), [before, after])
  return (
    <div className={css["diff"]} role="group" aria-label={label} tabIndex={0}>
      {lines.map((line, index) =>
        line.kind === "gap" ? (
          <div key={index} className={css["gap"]}>
            {line.count === 1 ? "1 line" : `${line.count} lines`}
          </div>
        ) : (
          <div key={index} className={css["diffLine"]} data-kind={line.kind}>
            <span className={css["signs"]} aria-hidden="true">
              {SIGNS[line.kind]}
            </span>
            {WORDS[line.kind] && <span className="visually-hidden">{WORDS[line.kind]}</span>}
            <code>{visible(line.text) || " "}</code>
          </div>
        ),
      )}
    </div>
  )
})
