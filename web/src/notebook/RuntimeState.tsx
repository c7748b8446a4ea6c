/** How the kernel is, in a word; more is in the panel of the runtime. */

import { useIsConnected } from "../hooks/connection.ts"
import { useField, useValue } from "../hooks/values.ts"
import type { Page } from "./page.ts"
import styles from "./Header.module.css"

const TIPS: Readonly<Record<string, string>> = {
  none: "A kernel starts with the first cell that is run",
  waiting: "There are as many runtimes as there may be",
  unknown: "The server does not answer: how the kernel is, is not known",
}

export function RuntimeState({ page }: { readonly page: Page }) {
  const runtimes = useField(page.live, "runtimes")
  const executions = useField(page.live, "executions")
  const health = useValue(page.lanes.health)
  const run = useField(page.live, "run")
  const isWaiting = useValue(page.whyWaiting) !== null
  const isConnected = useIsConnected(page)
  // A run has a kernel of its own, which goes with it: its state is the run's.
  if (run) return null
  const runtime = [...runtimes.values()].at(-1)
  const said = runtime && health.get(runtime.id)?.["state"]
  const state = !isConnected ? "unknown" : !runtime ? (isWaiting ? "waiting" : executions.size ? "starting" : "none") : typeof said === "string" ? said : executions.size ? "busy" : "idle"
  const name = runtime?.language ?? runtime?.name ?? ""
  const text = state === "none" ? "No kernel" : [name, state === "unknown" ? "not connected" : state].filter(Boolean).join(" · ")
  return (
    <button
      type="button"
      className={styles["runtime"]}
      data-runtime={state}
      aria-label={`Runtime: ${text}`}
      data-tip={TIPS[state] ?? "Runtime"}
      onClick={() => page.togglePanel("runtime")}
    >
      <i data-state={state} aria-hidden="true" />
      <span>{text}</span>
    </button>
  )
}
