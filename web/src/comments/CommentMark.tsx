/** The mark at a cell that has open comments: how many, the last of them in a line, and a press that unfolds them. */

import { awaits } from "../core/comments.ts"
import type { CellId } from "../core/types.gen.ts"
import { useField, useValue } from "../hooks/values.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Icon } from "../ui/Icon.tsx"
import { nameOf } from "../ui/Person.tsx"
import css from "./Comments.module.css"
import { commentsOf, threadsOf } from "./state.ts"

export default function CommentMark({ context, cell }: { readonly context: PageContext; readonly cell: CellId }) {
  const state = commentsOf(context)
  const open = threadsOf(useField(context.live, "comments")).filter((thread) => thread.cell === cell && thread.isOpen)
  useValue(state.shown)
  useValue(state.unfolded)
  const isUnfolded = state.isUnfolded(cell)
  const count = open.reduce((sum, { comments }) => sum + comments.size, 0)
  const last = open.flatMap(({ comments }) => [...comments.values()]).toSorted((one, other) => (one.at < other.at ? -1 : 1)).at(-1)
  if (!last) return null
  const isToMe = open.some((thread) => awaits(thread, context.open.me.actor))
  const words = `${count} comment${count === 1 ? "" : "s"}${isToMe ? ", to you" : ""}`
  return (
    <button type="button" className={css["mark"]} data-to-me={isToMe || undefined} aria-expanded={isUnfolded} onClick={() => state.unfold(cell, !isUnfolded)}>
      <Icon name="comment" size={14} />
      <span className={css["count"]}>{words}</span>
      {!isUnfolded && (
        <span className={css["excerpt"]}>
          {nameOf(last.by)}: {last.text}
        </span>
      )}
    </button>
  )
}
