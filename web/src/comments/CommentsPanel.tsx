/** All comments of a notebook: those to this person first, then by cell; what is resolved is folded. */

import { useState } from "react"

import { labelOf } from "../core/activity.ts"
import { awaits } from "../core/comments.ts"
import type { CommentThread } from "../core/comments.ts"
import { useField, useLiveOrder, useValue } from "../hooks/values.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Button } from "../ui/Button.tsx"
import { EmptyState } from "../ui/EmptyState.tsx"
import { Icon } from "../ui/Icon.tsx"
import { PanelBody, PanelButtons, PanelNote, PanelSection } from "../ui/Panel.tsx"
import css from "./Comments.module.css"
import { Composer } from "./Composer.tsx"
import { commentsOf, mayComment, threadsOf } from "./state.ts"
import { Thread } from "./Thread.tsx"

export default function CommentsPanel({ context }: { readonly context: PageContext }) {
  const { live, open } = context
  const order = useLiveOrder(live)
  const threads = threadsOf(useField(live, "comments"))
  const [isResolvedShown, showResolved] = useState(false)
  const place = ({ cell }: CommentThread): number => (cell === null ? -1 : order.indexOf(cell) < 0 ? order.length : order.indexOf(cell))
  const inOrder = threads.toSorted((one, other) => place(one) - place(other))
  const mine = inOrder.filter((thread) => thread.isOpen && awaits(thread, open.me.actor))
  const others = inOrder.filter((thread) => thread.isOpen && !mine.includes(thread))
  const resolved = inOrder.filter(({ isOpen }) => !isOpen)
  return (
    <PanelBody>
      <NewComment context={context} />
      {threads.length === 0 && (
        <EmptyState icon={<Icon name="comment" />} title="No comments yet">
          Select a cell and press Alt+C to say something about it. An @name addresses a person or an agent.
        </EmptyState>
      )}
      <Threads context={context} title="To you" threads={mine} />
      <Threads context={context} title={mine.length ? "Others" : "Open"} threads={others} />
      {resolved.length > 0 && (
        <PanelSection
          title={`Resolved (${resolved.length})`}
          actions={
            <Button kind="quiet" pressed={isResolvedShown} onClick={() => showResolved(!isResolvedShown)}>
              {isResolvedShown ? "Hide" : "Show"}
            </Button>
          }
        >
          {isResolvedShown && resolved.map((thread) => <PlacedThread key={thread.id} context={context} thread={thread} />)}
        </PanelSection>
      )}
    </PanelBody>
  )
}

/** Where a comment can be begun: on the cell that keys act on, and on the notebook. */
function NewComment({ context }: { readonly context: PageContext }) {
  const state = commentsOf(context)
  const focus = useValue(context.focus)
  const isComposed = useValue(state.composed).has("notebook")
  if (!mayComment(context)) return <PanelNote>You may read this notebook. To comment, ask whoever runs the workspace for the right to edit.</PanelNote>
  if (isComposed) return <Composer context={context} target="notebook" label="Comment on the notebook" add={(text) => ({ text, cell: null, reply_to: null })} />
  const label = focus === null ? null : labelOf(context.live.store.get(), focus)
  return (
    <PanelButtons>
      {focus !== null && label !== null && (
        <Button keys="Alt-C" onClick={() => state.compose(`cell:${focus}`)}>
          Comment on {label}
        </Button>
      )}
      <Button onClick={() => state.compose("notebook")}>Comment on the notebook</Button>
    </PanelButtons>
  )
}

interface ThreadsProps {
  readonly context: PageContext
  readonly title: string
  readonly threads: readonly CommentThread[]
}

function Threads({ context, title, threads }: ThreadsProps) {
  if (threads.length === 0) return null
  return (
    <PanelSection title={`${title} (${threads.length})`}>
      {threads.map((thread) => (
        <PlacedThread key={thread.id} context={context} thread={thread} />
      ))}
    </PanelSection>
  )
}

/** A thread, with the cell that it is about. */
function PlacedThread({ context, thread }: { readonly context: PageContext; readonly thread: CommentThread }) {
  const { cell } = thread
  const label = cell === null ? null : labelOf(context.live.store.get(), cell)
  return (
    <div className={css["placed"]}>
      {cell === null ? (
        <span className={css["fact"]}>the notebook</span>
      ) : label === null ? (
        <span className={css["fact"]}>a removed cell</span>
      ) : (
        <button type="button" className={css["place"]} onClick={() => context.goTo(cell)}>
          {label}
        </button>
      )}
      <Thread context={context} thread={thread} />
    </div>
  )
}
