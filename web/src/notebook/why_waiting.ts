/** Why what is queued is not run: asked for when it has waited for some seconds, and then now and again. */

import { address } from "../sync/api_requests.ts"
import type { Stop } from "../sync/store.ts"
import type { Page } from "./page.ts"

const FIRST_MILLISECONDS = 4000
const AGAIN_MILLISECONDS = 10_000

/** Tell it as `whyWaiting` of the page, until this is stopped. */
export function askWhyWaiting({ log, parts: { api, clock }, whyWaiting }: Pick<Page, "log" | "parts" | "whyWaiting">): Stop {
  let isOver = false
  const ask = async (): Promise<void> => {
    let told: string | null = null
    try {
      told = (await api.requests.read<{ readonly why: string | null }>(address(["logs", log, "waiting"]))).why
    } catch {
      // It is not known then, and what is wrong with the server is said elsewhere.
    }
    if (isOver) return
    whyWaiting.set(told)
    cancel = clock.after(AGAIN_MILLISECONDS, () => void ask())
  }
  let cancel = clock.after(FIRST_MILLISECONDS, () => void ask())
  return () => {
    isOver = true
    cancel()
    whyWaiting.set(null)
  }
}
