/** Schedules: when each is due next, how its last runs ended, what they came to; add, run now, pause, remove. */

import { useCallback, useEffect, useState } from "react"

import { listSchedules } from "../sync/api_schedules.ts"
import type { ScheduleEntry } from "../sync/api_schedules.ts"
import type { OpenParts } from "../sync/open.ts"
import { Bar } from "../ui/Bar.tsx"
import { Button } from "../ui/Button.tsx"
import { EmptyState } from "../ui/EmptyState.tsx"
import { Header } from "../ui/Header.tsx"
import { useTitle } from "../ui/title.ts"
import { notify } from "../ui/Toasts.tsx"
import { NewScheduleDialog } from "./NewScheduleDialog.tsx"
import { ScheduleItem } from "./ScheduleItem.tsx"
import css from "./Schedules.module.css"

/** A run ends, another scheduler begins one: looked at again so often while the page is open. */
const LOOK_MILLISECONDS = 5_000

export default function SchedulesPage({ parts }: { readonly parts: OpenParts }) {
  useTitle("Schedules")
  const { list, fault, reload } = useSchedules(parts)
  const [isAdding, setAdding] = useState(false)
  const add = (
    <Button kind="primary" onClick={() => setAdding(true)}>
      New schedule
    </Button>
  )
  return (
    <>
      <Header>Schedules</Header>
      {fault !== null && <Bar kind="error">{fault}</Bar>}
      <main id="main" className={css["main"]} tabIndex={-1}>
        {list?.length !== 0 && (
          <div className={css["top"]}>
            <h1>Schedules</h1>
            {add}
          </div>
        )}
        {list?.length === 0 && (
          <EmptyState isPage title="Nothing runs by the clock yet" actions={add}>
            A schedule runs a notebook file when it is due, with parameters of that time, and keeps what came of it.
          </EmptyState>
        )}
        {list !== null && list.length > 0 && (
          <ul className={css["list"]}>
            {list.map((entry) => (
              <ScheduleItem key={entry.name} entry={entry} parts={parts} onChanged={reload} />
            ))}
          </ul>
        )}
      </main>
      {isAdding && (
        <NewScheduleDialog
          parts={parts}
          onClose={() => setAdding(false)}
          onAdded={({ name }) => {
            setAdding(false)
            notify({ text: `Added: ${name}` })
            reload()
          }}
        />
      )}
    </>
  )
}

interface Schedules {
  /** Null as long as they are not read. */
  readonly list: readonly ScheduleEntry[] | null
  readonly fault: string | null
  readonly reload: () => void
}

function useSchedules({ api }: OpenParts): Schedules {
  const [list, setList] = useState<readonly ScheduleEntry[] | null>(null)
  const [fault, setFault] = useState<string | null>(null)
  const reload = useCallback((): void => {
    listSchedules(api).then(
      (found) => {
        setList(found)
        setFault(null)
      },
      (error: unknown) => setFault(error instanceof Error ? error.message : String(error)),
    )
  }, [api])
  useEffect(() => {
    reload()
    const timer = setInterval(reload, LOOK_MILLISECONDS)
    return () => clearInterval(timer)
  }, [reload])
  return { list, fault, reload }
}
