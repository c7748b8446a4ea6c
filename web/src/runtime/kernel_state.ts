/** How the runtimes of a notebook are, from what the log and their own words say. */

import { openExecution } from "../core/notebook.ts"
import type { ExecutionId, Json, JsonObject, Notebook, Runtime } from "../core/types.gen.ts"
import { isObject } from "../sync/lanes.ts"

export type KernelState = "starting" | "idle" | "busy" | "dead" | "unheard" | "unknown"

export interface RuntimeState {
  readonly runtime: Runtime
  readonly state: KernelState
  readonly memoryBytes: number | null
  readonly memoryLimitBytes: number | null
  /** Of one processor. */
  readonly cpuPercent: number | null
  readonly since: string | null
  readonly pid: number | null
  readonly interpreter: string | null
  readonly kernelName: string | null
  /** "Python 3.11.2" */
  readonly language: string | null
}

export function runtimeStates(notebook: Notebook, health: ReadonlyMap<string, JsonObject>, isConnected: boolean): RuntimeState[] {
  return [...notebook.runtimes.values()].map((runtime) => {
    const state = stateOf(notebook, runtime, health.get(runtime.id))
    return isConnected ? state : { ...state, state: "unknown" }
  })
}

function stateOf(notebook: Notebook, runtime: Runtime, said: JsonObject | undefined): RuntimeState {
  const environment = { ...runtime.environment, ...(isObject(said?.["environment"]) ? said["environment"] : {}) }
  return {
    runtime,
    state: kernelState(notebook, runtime, said),
    memoryBytes: number(said?.["memory_bytes"]),
    memoryLimitBytes: number(said?.["memory_limit_bytes"]),
    cpuPercent: number(said?.["cpu_percent"]),
    since: text(said?.["since"]),
    pid: number(said?.["pid"]),
    interpreter: text(environment["interpreter"]),
    kernelName: text(environment["kernel"]),
    language: languageText(environment["language_info"], runtime.language),
  }
}

/** What runs is in the log, which is never late; the rest is what the runtime said. */
function kernelState(notebook: Notebook, runtime: Runtime, said: JsonObject | undefined): KernelState {
  const state = text(said?.["state"])
  if (state === "dead" || state === "starting") return state
  if (runningIn(notebook, runtime.id).length > 0) return "busy"
  return said ? "idle" : "unheard"
}

/** The executions that a runtime is at. */
export function runningIn(notebook: Notebook, runtime: string): ExecutionId[] {
  return [...notebook.executions.keys()].filter((id) => {
    const execution = openExecution(notebook, id)
    return execution?.state === "running" && execution.runtime === runtime
  })
}

function languageText(info: Json | undefined, language: string | null): string | null {
  const { name, version } = isObject(info) ? info : {}
  const known = text(name) ?? language
  if (!known) return null
  const title = known.charAt(0).toUpperCase() + known.slice(1)
  return typeof version === "string" ? `${title} ${version}` : title
}

function text(value: Json | undefined): string | null {
  return typeof value === "string" && value !== "" ? value : null
}

function number(value: Json | undefined): number | null {
  return typeof value === "number" ? value : null
}

export const STATE_WORDS: Readonly<Record<KernelState, string>> = {
  starting: "Starting",
  idle: "Idle",
  busy: "Busy",
  dead: "Dead: restart it",
  unheard: "Not heard of lately",
  unknown: "Not known: the server does not answer",
}
