/** The panel of comments, their marks at cells, and the threads below them. */

import { lazy, Suspense } from "react"

import { awaits } from "../core/comments.ts"
import type { PanelSpec } from "../hooks/panel.ts"
import { useField } from "../hooks/values.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Icon } from "../ui/Icon.tsx"
import { commentsOf, mayComment, threadsOf } from "./state.ts"

const CommentsPanel = lazy(() => import("./CommentsPanel.tsx"))
const CommentMark = lazy(() => import("./CommentMark.tsx"))
const CellThreads = lazy(() => import("./CellThreads.tsx"))

export const panel: PanelSpec = {
  name: "comments",
  title: "Comments",
  icon: <Icon name="comment" />,
  render: (context) => (
    <Suspense fallback={null}>
      <CommentsPanel context={context} />
    </Suspense>
  ),
  badge: useAwaiting,
  actions: [
    {
      name: "comments.add",
      title: "Comment on this cell",
      keys: ["Alt-C"],
      when: (context) => mayComment(context) && context.focused() !== null,
      do: (context) => {
        const cell = context.focused()
        if (cell !== null) commentsOf(context).compose(`cell:${cell}`)
      },
    },
    {
      name: "comments.add_to_notebook",
      title: "Comment on the notebook",
      keys: [],
      when: mayComment,
      do: (context) => {
        context.openPanel("comments")
        commentsOf(context).compose("notebook")
      },
    },
  ],
  slots: [
    {
      place: "above",
      cells: (context) => commentsOf(context).marked,
      render: (context, cell) => (
        <Suspense fallback={null}>
          <CommentMark context={context} cell={cell.id} />
        </Suspense>
      ),
    },
    {
      place: "after",
      cells: (context) => commentsOf(context).shown,
      render: (context, cell) => (
        <Suspense fallback={null}>
          <CellThreads context={context} cell={cell.id} />
        </Suspense>
      ),
    },
  ],
}

/** How many open threads address this person and are not answered. */
function useAwaiting({ live, open }: PageContext): number {
  const comments = useField(live, "comments")
  return threadsOf(comments).filter((thread) => thread.isOpen && awaits(thread, open.me.actor)).length
}
