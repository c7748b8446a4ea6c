/** Runs as rows: how each ended, with which parameters and results, how long it took, who started it and when. */

import { Fragment } from "react"

import type { RunSummary } from "../sync/api_types.ts"
import { classes } from "../ui/classes.ts"
import { Person } from "../ui/Person.tsx"
import { duration } from "../ui/relative_time.ts"
import rows from "../ui/Rows.module.css"
import { StateMark, stateWord } from "../ui/StateMark.tsx"
import { Time } from "../ui/Time.tsx"
import { shortValues } from "./values.ts"
import css from "./Runs.module.css"

export interface RunListProps {
  readonly runs: readonly RunSummary[]
  readonly me: string | undefined
  /** On the page of runs there is no other to go to. */
  readonly isPage?: boolean
}

export default function RunList({ runs, me, isPage = false }: RunListProps) {
  return (
    <section aria-labelledby="runs">
      {!isPage && (
        <h2 id="runs" className={rows["heading"]}>
          Runs <a href="/runs">All runs</a>
        </h2>
      )}
      <ul className={rows["rows"]} aria-label={isPage ? "Runs" : undefined}>
        {runs.map((run) => (
          <RunRow key={run.log} run={run} me={me} />
        ))}
      </ul>
    </section>
  )
}

function RunRow({ run, me }: { readonly run: RunSummary; readonly me: string | undefined }) {
  const state = run.status === "success" ? "ok" : run.status
  return (
    <li className={classes(rows["row"], css["run"])} data-row data-status={run.status}>
      <span className={rows["kind"]}>
        <StateMark state={state} text={run.status === "success" ? "succeeded" : stateWord(state)} />
      </span>
      <span className={rows["title"]}>
        <a className={rows["link"]} href={`/runs/${encodeURIComponent(run.log)}`}>
          {run.name}
        </a>
        <Values values={run.parameters} />
      </span>
      <span className={classes(rows["fact"], css["results"])}>
        {Object.keys(run.results).length > 0 && <Values values={run.results} label="results: " />}
      </span>
      <span className={classes(rows["fact"], css["took"])}>{run.seconds === null ? "" : duration(run.seconds)}</span>
      <span className={rows["fact"]}>
        <Person actor={run.actor} onBehalfOf={run.on_behalf_of} me={me} /> · <Time at={run.at} />
      </span>
    </li>
  )
}

function Values({ values, label }: { readonly values: RunSummary["parameters"]; readonly label?: string }) {
  const shown = shortValues(values)
  if (shown.length === 0) return null
  return (
    <span className={rows["note"]} data-tip={shown.map(([name, value]) => `${name} = ${value}`).join("\n")}>
      {label && <span className="visually-hidden">{label}</span>}
      {shown.map(([name, value], index) => (
        <Fragment key={name}>
          {index > 0 && "  "}
          {name}=<b>{value}</b>
        </Fragment>
      ))}
    </span>
  )
}
