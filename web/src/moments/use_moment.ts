/** A notebook as it was at an event, with who did that and when. */

import { useEffect, useState } from "react"

import type { Entry, LogId, Notebook } from "../core/types.gen.ts"
import type { OpenParts } from "../sync/open.ts"

export interface ShownMoment {
  readonly notebook: Notebook
  readonly entry: Entry | null
}

/** Whoever draws the slider does not wait for every number under it. */
const PAUSE_MILLISECONDS = 60

/** The moment that was read last: that of `seq`, or while it is read the one before. */
export function useMoment({ api, clock }: Pick<OpenParts, "api" | "clock">, log: LogId, seq: number) {
  const [moment, setMoment] = useState<ShownMoment | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  useEffect(() => {
    let isGone = false
    const read = (): void => {
      Promise.all([api.notebook(log, seq), api.entries(log, seq - 1, seq)]).then(
        ([notebook, [entry = null]]) => {
          if (isGone) return
          setMoment({ notebook, entry })
          setProblem(null)
        },
        (error: unknown) => isGone || setProblem(error instanceof Error ? error.message : String(error)),
      )
    }
    const cancel = clock.after(PAUSE_MILLISECONDS, read)
    return () => {
      isGone = true
      cancel()
    }
  }, [api, clock, log, seq])
  return { moment, problem, isReading: moment?.notebook.seq !== seq && problem === null }
}
