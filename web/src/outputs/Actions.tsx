/** A small line under an output: what it is, and what can be done with it. */

import type { ReactNode } from "react"
import css from "./Actions.module.css"

export interface ActionItem {
  readonly label: string
  readonly onClick: () => void
  readonly pressed?: boolean
}

export function Actions({ says, items, children }: { readonly says?: string; readonly items: readonly ActionItem[]; readonly children?: ReactNode }) {
  return (
    <div className={css["actions"]}>
      {says && <span>{says}</span>}
      {items.map(({ label, onClick, pressed }) => (
        <button key={label} type="button" className={css["action"]} onClick={onClick} aria-pressed={pressed}>
          {label}
        </button>
      ))}
      {children}
    </div>
  )
}

/** A sentence about an output: why it is not all there, or not as it was. */
export function Notice({ text, isError = false, children }: { readonly text: string; readonly isError?: boolean; readonly children?: ReactNode }) {
  return (
    <p className={isError ? css["problem"] : css["notice"]} role={isError ? "status" : undefined}>
      {text}
      {children}
    </p>
  )
}
