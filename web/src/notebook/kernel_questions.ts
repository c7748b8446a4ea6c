/** What an editor asks the kernel; and when one that was busy may be asked again. */

import { openExecution } from "../core/notebook.ts"
import type { CellId, JsonObject, Notebook } from "../core/types.gen.ts"
import type { KernelAnswer } from "../editor/props.ts"
import type { Clock } from "../sync/clock.ts"
import type { Lanes } from "../sync/lanes.ts"
import type { Live } from "../sync/live.ts"
import type { Stop } from "../sync/store.ts"
import { cellLabel } from "./words.ts"

/** Between a kernel that is idle again and the next question: it may have been asked too much at once. */
const PAUSE_MILLISECONDS = 400

interface QuestionParts {
  readonly live: Live
  readonly lanes: Lanes
  readonly clock: Clock
}

export class KernelQuestions {
  readonly #parts: QuestionParts

  constructor(parts: QuestionParts) {
    this.#parts = parts
  }

  async complete(code: string, position: number): Promise<KernelAnswer> {
    const before = this.#state()
    if (before.kind === "none") return { kind: "none" }
    // Where no runtime is attached yet, nobody would answer.
    const answer = before.kind === "starting" ? ({ kind: "busy" } as const) : await this.#parts.lanes.complete({ code, position })
    return answer.kind === "busy" ? { kind: "busy", text: busyText(this.#state()) } : answer
  }

  async inspect(code: string, position: number, detail: 0 | 1): Promise<JsonObject | null> {
    if (this.#state().kind === "none") return null
    const answer = await this.#parts.lanes.inspect({ code, position, detail })
    return answer.kind === "answer" ? answer.content : null
  }

  /** Call `then` once, when the kernel runs no cell. */
  whenReady(then: () => void): Stop {
    const { live, lanes, clock } = this.#parts
    let cancel: Stop | null = null
    const stop = (): void => {
      cancel?.()
      for (const each of stops) each()
    }
    const look = (): void => {
      if (cancel || this.#state().kind !== "idle") return
      cancel = clock.after(PAUSE_MILLISECONDS, () => {
        cancel = null
        if (this.#state().kind !== "idle") return
        stop()
        then()
      })
    }
    const stops = [
      live.store.subscribe("executions", look),
      live.store.subscribe("cells", look),
      live.store.subscribe("runtimes", look),
      lanes.health.subscribe(look),
    ]
    look()
    return stop
  }

  #state(): Availability {
    return availability(this.#parts.live.store.get(), this.#parts.lanes.health.get())
  }
}

/** Whether a kernel could answer. `none`: there is none that lives, and none is asked for. */
type Availability = { readonly kind: "none" | "starting" | "idle" } | { readonly kind: "running"; readonly cell: string }

export function availability(notebook: Notebook, health: ReadonlyMap<string, JsonObject>): Availability {
  if (notebook.runtimes.size === 0) return { kind: notebook.executions.size > 0 ? "starting" : "none" }
  for (const [id, cell] of notebook.executions) {
    if (openExecution(notebook, id)?.state === "running") return { kind: "running", cell: runningLabel(notebook, cell) }
  }
  const states = [...notebook.runtimes.keys()].map((runtime) => health.get(runtime)?.["state"])
  if (states.every((state) => state === "dead")) return { kind: "none" }
  return { kind: states.includes("starting") ? "starting" : "idle" }
}

function runningLabel(notebook: Notebook, cell: CellId): string {
  return notebook.cells.get(cell)?.scratch ? "code" : cellLabel(notebook, cell)
}

function busyText(state: Availability): string {
  if (state.kind === "starting") return "The kernel is starting. It completes this when it is ready."
  if (state.kind === "running") return `The kernel runs ${state.cell}. It completes this when it is done.`
  return "The kernel is busy. It completes this when it can."
}
