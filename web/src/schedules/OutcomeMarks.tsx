/** How the last runs of a schedule ended: a row of marks, the newest on the right, each a link to its run. */

import type { ScheduleOutcome } from "../sync/api_schedules.ts"
import { StateMark, stateWord } from "../ui/StateMark.tsx"
import css from "./Schedules.module.css"

const SHOWN = 12
const STATES: Readonly<Record<string, string>> = { success: "ok", claimed: "queued" }

export function outcomeState(status: string): string {
  return STATES[status] ?? status
}

export function OutcomeMarks({ name, last }: { readonly name: string; readonly last: readonly ScheduleOutcome[] }) {
  if (last.length === 0) return <span className={css["soft"]}>no runs yet</span>
  return (
    <ul className={css["marks"]} aria-label={`Last runs of ${name}`}>
      {[...last.slice(0, SHOWN)].reverse().map(({ run, due, status }) => (
        <li key={run}>
          <a href={`/runs/${encodeURIComponent(run)}`} data-tip={`${due.slice(0, 16).replace("T", " ")} UTC: ${stateWord(outcomeState(status))}`}>
            <StateMark state={outcomeState(status)} />
          </a>
        </li>
      ))}
    </ul>
  )
}
