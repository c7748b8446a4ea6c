/** The header of the reading view: what it is, the switch that shows code, and for the owner who may start runs. */

import { useState } from "react"

import type { LogId, Run } from "../core/types.gen.ts"
import { setRunPolicy } from "../sync/api_run_policy.ts"
import type { RunPolicy } from "../sync/api_run_policy.ts"
import type { OpenParts } from "../sync/open.ts"
import { Bar } from "../ui/Bar.tsx"
import { Button } from "../ui/Button.tsx"
import { CheckField } from "../ui/Field.tsx"
import { Header } from "../ui/Header.tsx"
import { Icon } from "../ui/Icon.tsx"
import css from "./Reading.module.css"

interface Props {
  readonly log: LogId
  readonly name: string
  readonly run: Run | null
  /** The notebook that runs are started of. */
  readonly source: LogId | null
  readonly isCodeShown: boolean
  readonly onShowCode: (isShown: boolean) => void
  readonly policy: RunPolicy | null
  readonly parts: OpenParts
  readonly onPolicy: (policy: RunPolicy) => void
}

export function ReadingHeader({ log, name, run, source, isCodeShown, onShowCode, policy, parts, onPolicy }: Props) {
  const [problem, setProblem] = useState<string | null>(null)
  const decide = (viewersMayRun: boolean): void => {
    if (source === null) return
    setProblem(null)
    setRunPolicy(parts.api, source, viewersMayRun).then(onPolicy, (error: unknown) => setProblem(error instanceof Error ? error.message : String(error)))
  }
  return (
    <>
      <Header
        actions={
          <>
            <Button kind="quiet" icon={<Icon name="code" />} pressed={isCodeShown} onClick={() => onShowCode(!isCodeShown)}>
              Show code
            </Button>
            <a className={css["open"]} href={`/${run ? "runs" : "notebooks"}/${encodeURIComponent(log)}`}>
              Open
            </a>
          </>
        }
      >
        <span className={css["name"]}>
          {run && source !== null && (
            <>
              <a href={`/read/${encodeURIComponent(source)}`}>{name}</a> · run
            </>
          )}
          {(!run || source === null) && name}
        </span>
      </Header>
      {problem !== null && <Bar kind="error">{problem}</Bar>}
      {policy?.may_change && !run && (
        <div className={css["owner"]}>
          <CheckField label="Viewers may start runs" help="With other values of the parameters; they cannot change or run anything else." checked={policy.viewers_may_run} onChange={decide} />
        </div>
      )}
    </>
  )
}
