/** All runs that this person may read, the last one first. */

import { useEffect, useState } from "react"

import { useValue } from "../hooks/values.ts"
import type { RunSummary } from "../sync/api_types.ts"
import { Fault } from "../sync/fault.ts"
import type { OpenParts } from "../sync/open.ts"
import { Bar } from "../ui/Bar.tsx"
import { EmptyState } from "../ui/EmptyState.tsx"
import { Header } from "../ui/Header.tsx"
import { useTitle } from "../ui/title.ts"
import RunList from "./RunList.tsx"
import css from "./Runs.module.css"

const MOST_RUNS = 200

export default function RunsPage({ parts }: { readonly parts: OpenParts }) {
  const [runs, setRuns] = useState<readonly RunSummary[] | null>(null)
  const [fault, setFault] = useState<string | null>(null)
  const me = useValue(parts.socket.welcome)?.me.actor
  useTitle("Runs")
  useEffect(() => {
    const read = (): void => {
      parts.api.runs({ limit: MOST_RUNS }).then(
        setRuns,
        (error: unknown) => setFault(error instanceof Fault && error.isPassing ? null : String(error)),
      )
    }
    read()
    return parts.socket.feed(read)
  }, [parts])
  return (
    <>
      <Header>Runs</Header>
      {fault && <Bar kind="error">{fault}</Bar>}
      <main id="main" className={css["main"]} tabIndex={-1}>
        <h1>Runs</h1>
        {runs?.length === 0 && (
          <EmptyState title="No runs yet">
            Start one from a notebook&apos;s parameters, or in a terminal: <code>quire run notebook.py -p name=value</code>
          </EmptyState>
        )}
        {runs && runs.length > 0 && <RunList runs={runs} me={me} isPage />}
      </main>
    </>
  )
}
