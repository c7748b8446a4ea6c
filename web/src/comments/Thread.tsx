/** A conversation: its comments, an answer to it, and whether it is dealt with. */

import { useState } from "react"

import { awaits } from "../core/comments.ts"
import type { CommentThread } from "../core/comments.ts"
import type { Comment, CommentId } from "../core/types.gen.ts"
import { useValue } from "../hooks/values.ts"
import { Button } from "../ui/Button.tsx"
import { PanelNote } from "../ui/Panel.tsx"
import { Person, personText } from "../ui/Person.tsx"
import { Time } from "../ui/Time.tsx"
import { CommentText } from "./CommentText.tsx"
import css from "./Comments.module.css"
import { Composer } from "./Composer.tsx"
import { commentsOf, mayComment } from "./state.ts"
import type { CommentsContext } from "./state.ts"

export function Thread({ context, thread }: { readonly context: CommentsContext; readonly thread: CommentThread }) {
  const { live, open } = context
  const state = commentsOf(context)
  const isAnswered = useValue(state.composed).has(`reply:${thread.id}`)
  const [refusal, setRefusal] = useState<string | null>(null)
  const resolve = (resolved: boolean): void => {
    setRefusal(null)
    live.act([{ type: "comment_resolved", comment: thread.id, resolved }], (outcome) => {
      if (outcome.kind === "refused") setRefusal(outcome.fault.message)
    })
    if (resolved) context.notify({ text: "Resolved.", action: { label: "Reopen", do: () => resolve(false) } })
  }
  const last = [...thread.comments.keys()].at(-1) ?? thread.id
  const isToMe = thread.isOpen && awaits(thread, open.me.actor)
  return (
    <article className={css["thread"]} data-thread={thread.id} data-to-me={isToMe || undefined} aria-label={`Comments, begun by ${personText(thread.first.by, thread.first.on_behalf_of, open.me.actor)}`}>
      {[...thread.comments].map(([id, comment]) => (
        <OneComment key={id} context={context} id={id} comment={comment} />
      ))}
      {refusal && <PanelNote kind="error">{refusal}</PanelNote>}
      {isAnswered ? (
        <Composer context={context} target={`reply:${thread.id}`} label="Reply" add={(text) => ({ text, cell: null, reply_to: last })} />
      ) : (
        mayComment(context) && (
          <div className={css["buttons"]}>
            {thread.isOpen && (
              <Button kind="quiet" onClick={() => state.compose(`reply:${thread.id}`)}>
                Reply
              </Button>
            )}
            <Button kind="quiet" onClick={() => resolve(thread.isOpen)}>
              {thread.isOpen ? "Resolve" : "Reopen"}
            </Button>
            {!thread.isOpen && thread.first.resolved_by !== null && (
              <span className={css["fact"]}>resolved by {personText(thread.first.resolved_by, null, open.me.actor)}</span>
            )}
          </div>
        )
      )}
    </article>
  )
}

interface OneCommentProps {
  readonly context: CommentsContext
  readonly id: CommentId
  readonly comment: Comment
}

function OneComment({ context, id, comment }: OneCommentProps) {
  const { open, clock } = context
  const state = commentsOf(context)
  const isEdited = useValue(state.composed).has(`edit:${id}`)
  const isMine = comment.by === open.me.actor
  return (
    <div className={css["comment"]} data-comment={id}>
      <div className={css["who"]}>
        <Person actor={comment.by} onBehalfOf={comment.on_behalf_of} me={open.me.actor} />
        <span className={css["fact"]}>
          <Time at={comment.at} now={clock.now()} />
          {comment.edited && " · edited"}
        </span>
        {isMine && !isEdited && mayComment(context) && (
          <span className={css["edit"]}>
            <Button kind="quiet" onClick={() => state.compose(`edit:${id}`, comment.text)}>
              Edit
            </Button>
          </span>
        )}
      </div>
      {isEdited ? (
        <Composer context={context} target={`edit:${id}`} label="Edit the comment" edits={id} />
      ) : (
        <CommentText text={comment.text} me={open.me.actor} />
      )}
    </div>
  )
}
