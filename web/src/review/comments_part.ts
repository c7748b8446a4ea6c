/** What a review uses of the comments. They are another screen's: the page's maker hands them in. */

import type { ComponentType } from "react"

import type { CommentThread } from "../core/comments.ts"
import type { ActorId, CellId, Comment, CommentId } from "../core/types.gen.ts"
import type { DraftTarget } from "../sync/comment_drafts.ts"
import type { PageContext } from "../sync/notebook_page.ts"

export interface ReviewContext extends Pick<PageContext, "live" | "open" | "log" | "parts" | "clock" | "notify"> {
  readonly presence: Pick<PageContext["presence"], "others">
  /** Whom an @ can address beside those that the log knows. */
  readonly involved: readonly ActorId[]
}

export interface ReviewComments {
  readonly Threads: ComponentType<{
    readonly context: ReviewContext
    readonly threads: readonly CommentThread[]
    readonly target: DraftTarget
    readonly label: string
    readonly about: { readonly cell: CellId | null; readonly line?: number; readonly source_hash?: string }
  }>
  readonly useComposed: (context: ReviewContext) => ReadonlySet<DraftTarget>
  readonly threadsOf: (comments: ReadonlyMap<CommentId, Comment>) => readonly CommentThread[]
  readonly mayComment: (context: ReviewContext) => boolean
  readonly compose: (context: ReviewContext, target: DraftTarget) => void
}
