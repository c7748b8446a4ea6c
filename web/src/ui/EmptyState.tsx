/** What a place says when there is nothing in it: one sentence, and what to do. */

import type { ReactNode } from "react"

import css from "./EmptyState.module.css"

export interface EmptyStateProps {
  readonly icon?: ReactNode
  readonly title: string
  readonly children?: ReactNode
  /** Buttons. */
  readonly actions?: ReactNode
}

export function EmptyState({ icon, title, children, actions }: EmptyStateProps) {
  return (
    <div className={css["empty"]}>
      {icon && <div className={css["icon"]}>{icon}</div>}
      <p className={css["title"]}>{title}</p>
      {children && <div className={css["text"]}>{children}</div>}
      {actions && <div className={css["actions"]}>{actions}</div>}
    </div>
  )
}
