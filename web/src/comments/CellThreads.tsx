/** The threads of one cell, below it; and the field for a new comment on it. */

import { labelOf } from "../core/activity.ts"
import type { CellId } from "../core/types.gen.ts"
import { useField, useValue } from "../hooks/values.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Button } from "../ui/Button.tsx"
import css from "./Comments.module.css"
import { Composer } from "./Composer.tsx"
import { commentsOf, mayComment, threadsOf } from "./state.ts"
import { Thread } from "./Thread.tsx"

export default function CellThreads({ context, cell }: { readonly context: PageContext; readonly cell: CellId }) {
  const state = commentsOf(context)
  const comments = useField(context.live, "comments")
  const isComposed = useValue(state.composed).has(`cell:${cell}`)
  useValue(state.unfolded)
  const label = labelOf(context.live.store.get(), cell) ?? "a removed cell"
  const threads = state.isUnfolded(cell) ? threadsOf(comments).filter((thread) => thread.cell === cell && thread.isOpen) : []
  const isEmpty = threads.length === 0
  return (
    <div role="listitem" className={css["below"]} aria-label={`Comments on ${label}`}>
      {threads.map((thread) => (
        <Thread key={thread.id} context={context} thread={thread} />
      ))}
      {isComposed ? (
        <Composer context={context} target={`cell:${cell}`} label={`Comment on ${label}`} add={(text) => ({ text, cell, reply_to: null })} />
      ) : (
        !isEmpty &&
        mayComment(context) && (
          <Button kind="quiet" onClick={() => state.compose(`cell:${cell}`)}>
            New comment
          </Button>
        )
      )}
    </div>
  )
}
