/** What home shows, kept right: read at once, again whenever a log grows, and every so often for who is there. */

import { useCallback, useEffect, useRef, useState } from "react"

import type { Overview } from "../sync/api_types.ts"
import { Fault } from "../sync/fault.ts"
import type { OpenParts } from "../sync/open.ts"

/** Many events come close together: they are worth one question. */
const GATHER_MILLISECONDS = 250
/** Who comes and goes is in no log. */
const AGAIN_MILLISECONDS = 5_000

export interface OverviewState {
  readonly overview: Overview | null
  /** Why it could not be read; what was read before stays. */
  readonly fault: string | null
  readonly reload: () => void
}

export function useOverview({ api, socket }: OpenParts): OverviewState {
  const [overview, setOverview] = useState<Overview | null>(null)
  const [fault, setFault] = useState<string | null>(null)
  const reading = useRef<Promise<void> | null>(null)

  const read = useCallback(async (): Promise<void> => {
    try {
      setOverview(await api.overview())
      setFault(null)
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      // The line at the top says when the server is away, or does not know this browser any more.
      setFault(error.isPassing || error.isSignedOut ? null : error.message)
    }
  }, [api])

  const reload = useCallback((): void => {
    reading.current ??= read().finally(() => (reading.current = null))
  }, [read])

  useEffect(() => {
    reload()
    let timer: ReturnType<typeof setTimeout> | undefined
    const soon = (): void => {
      clearTimeout(timer)
      timer = setTimeout(reload, GATHER_MILLISECONDS)
    }
    const stops = [socket.feed(soon), socket.state.subscribe(() => socket.isOpen && soon())]
    const again = setInterval(() => document.visibilityState === "visible" && reload(), AGAIN_MILLISECONDS)
    return () => {
      clearTimeout(timer)
      clearInterval(again)
      for (const stop of stops) stop()
    }
  }, [socket, reload])

  return { overview, fault, reload }
}
