/** A run that was started here: read once, then followed until the page is left. */

import { Fold } from "../core/reduce.ts"
import { cellState, liveCells, runs } from "../core/notebook.ts"
import type { Cell, LogId, Notebook } from "../core/types.gen.ts"
import { Fault } from "../sync/fault.ts"
import type { OpenParts } from "../sync/open.ts"
import type { Stop } from "../sync/store.ts"

export interface RunWatcher {
  changed(notebook: Notebook): void
  failed(fault: Fault): void
}

/** Call the watcher with the run as it is, and whenever it grows. */
export function watchRun(run: LogId, { api, socket }: Pick<OpenParts, "api" | "socket">, watcher: RunWatcher): Stop {
  let isStopped = false
  let stop: Stop = () => undefined
  const begin = (notebook: Notebook): void => {
    if (isStopped) return
    const folding = new Fold(notebook)
    watcher.changed(notebook)
    stop = socket.follow(run, {
      since: () => folding.now.seq,
      take: (entries) => {
        for (const entry of entries) if (entry.seq === folding.now.seq + 1) folding.add(entry)
        watcher.changed(folding.notebook())
      },
      failed: (fault) => watcher.failed(fault),
    })
  }
  api.notebook(run).then(begin, (error: unknown) => {
    if (!isStopped && error instanceof Fault) watcher.failed(error)
  })
  return () => {
    isStopped = true
    stop()
  }
}

export interface Progress {
  readonly done: number
  readonly all: number
  readonly running: Cell | null
}

/** How many of the cells that can run have ended, and the one that runs. */
export function progressOf(notebook: Notebook): Progress {
  const cells = liveCells(notebook).filter(runs)
  const states = cells.map(cellState)
  const isDone = (state: string): boolean => state !== "never_run" && state !== "queued" && state !== "running"
  return { done: states.filter(isDone).length, all: cells.length, running: cells[states.indexOf("running")] ?? null }
}

/** Whether anything more can happen to the run. */
export function isOver(notebook: Notebook): boolean {
  const status = notebook.run?.status
  return status !== undefined && status !== "queued" && status !== "claimed" && status !== "running"
}
