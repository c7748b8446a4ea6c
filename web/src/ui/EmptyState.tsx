/** What a place says when there is nothing in it: one sentence, and what to do. */

import type { ReactNode } from "react"

import css from "./EmptyState.module.css"

export interface EmptyStateProps {
  readonly icon?: ReactNode
  readonly title: string
  /** Whether there is nothing else on the page: its title is the page's heading. */
  readonly isPage?: boolean
  readonly children?: ReactNode
  /** Buttons. */
  readonly actions?: ReactNode
}

export function EmptyState({ icon, title, isPage = false, children, actions }: EmptyStateProps) {
  const Title = isPage ? "h1" : "p"
  return (
    <div className={css["empty"]}>
      {icon && <div className={css["icon"]}>{icon}</div>}
      <Title className={css["title"]}>{title}</Title>
      {children && <div className={css["text"]}>{children}</div>}
      {actions && <div className={css["actions"]}>{actions}</div>}
    </div>
  )
}
