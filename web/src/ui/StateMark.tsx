/** The mark of a cell's or a run's state: a shape for each, so that colour says nothing alone; its word is read out. */

import { memo } from "react"

import css from "./StateMark.module.css"

export interface StateMarkProps {
  /** never_run, queued, running, ok, error, cancelled, timeout, dead_kernel, lost, skipped. */
  readonly state: string
  readonly stale?: boolean | undefined
  /** Which execution it was: shown instead of the check mark. */
  readonly count?: number | null | undefined
  /** What is read out instead of the state's own word. */
  readonly text?: string | undefined
}

const RING = "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11z"

const MARKS: Readonly<Record<string, { readonly word: string; readonly path: string }>> = {
  never_run: { word: "not run", path: "M8 5.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z" },
  queued: { word: "queued", path: `${RING}M8 5v3l2 1.3` },
  running: { word: "running", path: "M8 2.5A5.5 5.5 0 1 1 2.5 8" },
  ok: { word: "ok", path: "M3 8.5l3.3 3.3L13 4.8" },
  error: { word: "error", path: "M4 4l8 8M12 4l-8 8" },
  cancelled: { word: "cancelled", path: `${RING}M4.2 11.8l7.6-7.6` },
  timeout: { word: "timed out", path: "M4.5 2.5h7M4.5 13.5h7M5.5 2.5c0 3 5 5.5 5 11M10.5 2.5c0 3-5 5.5-5 11" },
  dead_kernel: { word: "kernel died", path: "M9 1.5L4 9h3.5L7 14.5 12 7H8.5z" },
  lost: { word: "lost", path: "M5.5 6a2.5 2.5 0 1 1 3.6 2.2c-.7.4-1.1.8-1.1 1.6M8 12.5v.01" },
  skipped: { word: "skipped", path: "M3 4l5 4-5 4zM12.5 4v8" },
}

/** The words of states, for texts. */
export function stateWord(state: string): string {
  return MARKS[state]?.word ?? state.replaceAll("_", " ")
}

export const StateMark = memo(function StateMark({ state, stale = false, count, text }: StateMarkProps) {
  const mark = MARKS[state] ?? { word: stateWord(state), path: RING }
  const isCount = state === "ok" && count !== null && count !== undefined
  const word = `${text ?? mark.word}${isCount ? `, run ${count}` : ""}${stale ? ", stale" : ""}`
  return (
    <span className={css["mark"]} data-state={state} data-stale={stale || undefined}>
      {isCount ? (
        <span className={css["count"]} aria-hidden="true">
          {count}
        </span>
      ) : (
        <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
          <path d={mark.path} />
        </svg>
      )}
      <span className="visually-hidden">{word}</span>
    </span>
  )
})
