/** Keeps how far this person has seen the notebook, for as long as it is open, and says aloud where the keys lead. */

import { useEffect } from "react"

import { cellLabel } from "../core/cell_label.ts"
import { useValue } from "../hooks/values.ts"
import { markSeen, readSeen, readSince } from "../sync/api_activity.ts"
import { writeTime } from "../sync/clock.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { seenOf } from "../sync/seen.ts"
import { watchAttention } from "./attention.ts"
import { changedCells } from "./walk.ts"
import { deedText } from "./words.ts"

export function SeenWatch({ context }: { readonly context: PageContext }) {
  useEffect(() => {
    // A run is a record: what is new in it is that it goes on.
    if (context.live.store.field("run") !== null) return undefined
    return watchSeen(context)
  }, [context])
  return <SpokenChange context={context} />
}

function watchSeen({ live, parts, log, clock }: PageContext): () => void {
  const { api } = parts
  const attention = watchAttention(window)
  const stop = seenOf(live).start({
    clock: parts.clock,
    attention: attention.value,
    seen: () => readSeen(api, log),
    mark: (seq, isLast) => markSeen(api, log, seq, isLast),
    since: (seq) => readSince(api, log, seq),
    notebook: (seq) => api.notebook(log, { seq, outputs: 0 }),
    now: () => writeTime(clock.now()),
  })
  return () => {
    stop()
    attention.stop()
  }
}

function SpokenChange({ context }: { readonly context: PageContext }) {
  const seen = seenOf(context.live)
  const open = useValue(seen.open)
  const news = useValue(seen.news)
  const [cell] = open
  const changes = news?.since.cells.find((one) => one.cell === cell)
  const cells = changedCells(context)
  return (
    <div className="visually-hidden" role="status">
      {cell !== undefined && changes !== undefined
        ? `Change ${cells.indexOf(cell) + 1} of ${cells.length}: ${cellLabel(context.live.store.get(), cell)}, ${deedText(changes, context.open.me.actor)}`
        : ""}
    </div>
  )
}
