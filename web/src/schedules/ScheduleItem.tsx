/** One schedule: what it runs and when, its marks and buttons, and, opened, its runs and results. */

import { useEffect, useState } from "react"

import { scheduleRuns, tellSchedule } from "../sync/api_schedules.ts"
import type { ScheduledRun, ScheduleEntry } from "../sync/api_schedules.ts"
import type { OpenParts } from "../sync/open.ts"
import { Button } from "../ui/Button.tsx"
import { StateMark, stateWord } from "../ui/StateMark.tsx"
import { notify } from "../ui/Toasts.tsx"
import { OutcomeMarks, outcomeState } from "./OutcomeMarks.tsx"
import { plottedNames } from "./plot_points.ts"
import { ResultPlot } from "./ResultPlot.tsx"
import css from "./Schedules.module.css"

export interface ScheduleItemProps {
  readonly entry: ScheduleEntry
  readonly parts: OpenParts
  readonly onChanged: () => void
}

export function ScheduleItem({ entry, parts, onChanged }: ScheduleItemProps) {
  const [isOpen, setOpen] = useState(false)
  const { name, plan, state, last, fault, skipped } = entry
  const isPaused = state === "paused"
  const tell = (act: "pause" | "resume" | "now" | "remove", done: string): void => {
    tellSchedule(parts.api, name, act).then(
      () => {
        notify({ text: done })
        onChanged()
      },
      (error: unknown) => notify({ text: error instanceof Error ? error.message : String(error), kind: "error" }),
    )
  }
  return (
    <li className={css["item"]}>
      <div className={css["line"]}>
        <h2>{name}</h2>
        <OutcomeMarks name={name} last={last} />
      </div>
      <p className={css["soft"]}>
        <code>{plan.when}</code> {plan.timezone ?? "UTC"} · {plan.path}
      </p>
      <p>{fault ?? nextWords(entry)}</p>
      {skipped !== null && skipped.reason !== "overlap" && (
        <p className={css["soft"]}>
          Last skipped: {localTime(skipped.due, plan.timezone)}, {skipped.reason}. {skipped.why}
        </p>
      )}
      <div className={css["buttons"]}>
        <Button onClick={() => tell("now", `${name} runs as soon as it can`)}>Run now</Button>
        <Button onClick={() => tell(isPaused ? "resume" : "pause", `${name} ${isPaused ? "goes on" : "is paused"}`)}>{isPaused ? "Resume" : "Pause"}</Button>
        <Button pressed={isOpen} onClick={() => setOpen(!isOpen)}>
          History
        </Button>
        <Button kind="danger" onClick={() => tell("remove", `Removed: ${name}. Its runs stay.`)}>
          Remove
        </Button>
      </div>
      {isOpen && <History entry={entry} parts={parts} />}
    </li>
  )
}

function History({ entry, parts }: Omit<ScheduleItemProps, "onChanged">) {
  const [runs, setRuns] = useState<readonly ScheduledRun[]>([])
  const newest = entry.last[0]
  // Read again when a run began or ended.
  const version = newest ? `${newest.run} ${newest.status}` : ""
  useEffect(() => {
    let isShown = true
    scheduleRuns(parts.api, entry.name).then(
      (found) => {
        if (isShown) setRuns(found)
      },
      () => undefined, // the list above says what is wrong
    )
    return () => void (isShown = false)
  }, [parts.api, entry.name, version])
  return (
    <div className={css["history"]}>
      <div className={css["plots"]}>
        {plottedNames(runs).map((name) => (
          <ResultPlot key={name} name={name} runs={runs} />
        ))}
      </div>
      <ol className={css["runs"]} aria-label={`Runs of ${entry.name}`}>
        {runs.map((run) => (
          <li key={run.run}>
            <StateMark state={outcomeState(run.status)} />{" "}
            <a href={`/runs/${encodeURIComponent(run.run)}`}>{localTime(run.due, entry.plan.timezone)}</a> {runWords(run)}
          </li>
        ))}
      </ol>
    </div>
  )
}

function runWords({ status, attempt, error, deliveries }: ScheduledRun): string {
  const words = [stateWord(outcomeState(status)), ...(attempt > 1 ? [`attempt ${attempt}`] : []), ...(error ? [error] : [])]
  const delivered = deliveries.map(({ kind, delivered: isDone }) => `${kind} ${isDone ? "delivered" : "failed"}`)
  return [...words, ...delivered].join(" · ")
}

function nextWords({ state, next, plan }: ScheduleEntry): string {
  if (state === "paused") return "Paused"
  if (next.length === 0) return "Not due any more"
  return `Next: ${next
    .slice(0, 3)
    .map((time) => localTime(time, plan.timezone))
    .join(", ")}`
}

/** A moment as the clock of a zone shows it. */
function localTime(at: string, timeZone = "UTC"): string {
  try {
    return new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short", timeZone }).format(new Date(at))
  } catch {
    return at // a zone that this browser does not know
  }
}
