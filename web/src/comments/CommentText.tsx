/** What somebody wrote, as plain text: names that it addresses are marked, addresses of pages are no links. */

import type { ReactNode } from "react"

import { means, mentions } from "../core/comments.ts"
import css from "./Comments.module.css"

export function CommentText({ text, me }: { readonly text: string; readonly me: string }) {
  const parts: ReactNode[] = []
  let end = 0
  for (const mention of mentions(text)) {
    parts.push(text.slice(end, mention.start))
    parts.push(
      <span key={mention.start} className={css["mention"]} data-me={means(mention, me) || undefined}>
        {text.slice(mention.start, mention.end)}
      </span>,
    )
    end = mention.end
  }
  parts.push(text.slice(end))
  return (
    <p className={css["text"]} dir="auto">
      {parts}
    </p>
  )
}
