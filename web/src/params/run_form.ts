/** The form of one open notebook: what was typed, and the run that it started. It outlives the panel that shows it. */

import type { Json, LogId, Notebook } from "../core/types.gen.ts"
import { Fault } from "../sync/fault.ts"
import type { Live } from "../sync/live.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Value } from "../sync/store.ts"
import type { Stop } from "../sync/store.ts"
import type { Typed } from "./fields.ts"
import { watchRun } from "./run_watch.ts"

/** The run that was started last. */
export interface StartedRun {
  readonly log: LogId
  /** As it is now; null until it was read. */
  readonly notebook: Notebook | null
}

const RECORD_MILLISECONDS = 10_000

export class RunForm {
  readonly typed = new Value<Typed>({})
  readonly run = new Value<StartedRun | null>(null)
  readonly fault = new Value<Fault | null>(null)
  readonly isStarting = new Value(false)
  #stop: Stop = () => undefined

  type(name: string, text: string): void {
    this.typed.set({ ...this.typed.get(), [name]: text })
  }

  reset(): void {
    this.typed.set({})
    this.fault.set(null)
  }

  /** Start a run with these values; what was typed in cells is recorded first. */
  async start(context: PageContext, values: Readonly<Record<string, Json>>): Promise<void> {
    this.isStarting.set(true)
    this.fault.set(null)
    try {
      await recorded(context)
      const { run } = await context.parts.api.startRun(context.log, { parameters: values })
      this.#watch(context, run)
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      this.fault.set(error)
    } finally {
      this.isStarting.set(false)
    }
  }

  /** Ask for the run to stop. */
  cancel({ parts }: PageContext): void {
    const run = this.run.get()
    if (!run) return
    const draft = { id: parts.newId(), event: { type: "run_cancel_requested" } as const }
    parts.socket.submit(run.log, [draft], (answer) => {
      if (answer.kind === "failed") this.fault.set(answer.fault)
    })
  }

  #watch(context: PageContext, log: LogId): void {
    this.#stop()
    this.run.set({ log, notebook: null })
    this.#stop = watchRun(log, context.parts, {
      changed: (notebook) => this.run.set({ log, notebook }),
      failed: (fault) => this.fault.set(fault),
    })
  }
}

const FORMS = new WeakMap<Live, RunForm>()

/** The form of an open notebook. */
export function formOf(live: Live): RunForm {
  const form = FORMS.get(live) ?? new RunForm()
  FORMS.set(live, form)
  return form
}

/** Wait until all that was typed here is in the log: a run takes the notebook from there. */
function recorded({ live, parts }: PageContext): Promise<void> {
  live.flush()
  if (live.waiting.get() === 0) return Promise.resolve()
  return new Promise((resolve, reject) => {
    const message = "What you typed is not recorded yet: the server does not answer. Try again when it does."
    const cancel = parts.clock.after(RECORD_MILLISECONDS, () => {
      stop()
      reject(new Fault({ kind: "Unavailable", message }))
    })
    const stop = live.waiting.subscribe(() => {
      if (live.waiting.get() > 0) return
      stop()
      cancel()
      resolve()
    })
  })
}
