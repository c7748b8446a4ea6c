/** One line at the top of the page that says what is the matter, and what to do. */

import type { ReactNode } from "react"

import css from "./Bar.module.css"
import { Icon } from "./Icon.tsx"

export interface BarProps {
  readonly kind?: "info" | "warning" | "error" | undefined
  /** Buttons. */
  readonly actions?: ReactNode
  readonly children: ReactNode
}

export function Bar({ kind = "info", actions, children }: BarProps) {
  return (
    <div className={css["bar"]} data-kind={kind} role={kind === "error" ? "alert" : "status"}>
      <Icon name={kind === "info" ? "info" : "warning"} />
      <span className={css["text"]}>{children}</span>
      {actions}
    </div>
  )
}
