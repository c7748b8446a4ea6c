/** Comments as a review shows them: threads at a cell or a line, and the field for a new one. */

import type { CommentThread } from "../core/comments.ts"
import type { CellId } from "../core/types.gen.ts"
import { useValue } from "../hooks/values.ts"
import type { DraftTarget } from "../sync/comment_drafts.ts"
import css from "./Comments.module.css"
import { Composer } from "./Composer.tsx"
import { commentsOf, mayComment, threadsOf } from "./state.ts"
import type { CommentsContext } from "./state.ts"
import { Thread } from "./Thread.tsx"

export interface ThreadsProps {
  readonly context: CommentsContext
  readonly threads: readonly CommentThread[]
  /** Where a new one would stand, and what the field is called. */
  readonly target: DraftTarget
  readonly label: string
  readonly about: { readonly cell: CellId | null; readonly line?: number; readonly source_hash?: string }
}

function Threads({ context, threads, target, label, about }: ThreadsProps) {
  const isComposed = useValue(commentsOf(context).composed).has(target)
  return (
    <div className={css["inReview"]}>
      {threads.map((thread) => (
        <Thread key={thread.id} context={context} thread={thread} />
      ))}
      {isComposed && <Composer context={context} target={target} label={label} add={(text) => ({ ...about, text, reply_to: null })} />}
    </div>
  )
}

function useComposed(context: CommentsContext): ReadonlySet<DraftTarget> {
  return useValue(commentsOf(context).composed)
}

export const REVIEW_COMMENTS = {
  Threads,
  useComposed,
  threadsOf,
  mayComment,
  /** Open the field for a comment, and take the focus there. */
  compose: (context: CommentsContext, target: DraftTarget): void => commentsOf(context).compose(target),
}
