/** The 40 px at the top of a page: the mark that leads home, where one is, and what can be done here. */

import type { ReactNode } from "react"

import css from "./Header.module.css"
import { Mark } from "./Mark.tsx"

export interface HeaderProps {
  /** Where one is. */
  readonly children?: ReactNode
  /** Buttons at the end. */
  readonly actions?: ReactNode
}

export function Header({ children, actions }: HeaderProps) {
  return (
    <header className={css["header"]}>
      <a className={css["home"]} href="/" aria-label="Quire, all notebooks">
        <Mark />
      </a>
      <div className={css["place"]}>{children}</div>
      <div className={css["actions"]}>{actions}</div>
    </header>
  )
}
