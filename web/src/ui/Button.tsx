/** Buttons: with words, or with an icon and a name that is read out and shown as a tip. */

import type { MouseEvent, ReactNode, Ref } from "react"

import css from "./Button.module.css"
import { classes } from "./classes.ts"
import { spokenKeys } from "./Kbd.tsx"

export interface ButtonProps {
  readonly kind?: "plain" | "primary" | "quiet" | "danger" | undefined
  readonly icon?: ReactNode
  /** For a button that is on or off. */
  readonly pressed?: boolean | undefined
  readonly disabled?: boolean | undefined
  readonly title?: string | undefined
  readonly keys?: string | undefined
  readonly type?: "button" | "submit" | undefined
  readonly onClick?: ((event: MouseEvent<HTMLButtonElement>) => void) | undefined
  readonly ref?: Ref<HTMLButtonElement> | undefined
  readonly children: ReactNode
}

export function Button({ kind = "plain", icon, pressed, title, keys, type = "button", children, ...rest }: ButtonProps) {
  return (
    <button
      {...rest}
      type={type}
      className={classes(css["button"], css[kind])}
      aria-pressed={pressed}
      aria-keyshortcuts={spokenKeys(keys)}
      data-tip={title}
      data-keys={keys}
    >
      {icon}
      {children}
    </button>
  )
}

export interface IconButtonProps {
  /** What it does, in words. */
  readonly label: string
  readonly icon: ReactNode
  readonly onClick?: ((event: MouseEvent<HTMLButtonElement>) => void) | undefined
  readonly pressed?: boolean | undefined
  readonly expanded?: boolean | undefined
  readonly disabled?: boolean | undefined
  readonly keys?: string | undefined
  /** -1 where arrows move between the buttons of a row. */
  readonly tabIndex?: number | undefined
  /** A small number on its corner: of what waits behind it. */
  readonly badge?: number | undefined
  readonly ref?: Ref<HTMLButtonElement> | undefined
}

export function IconButton({ label, icon, pressed, expanded, keys, badge, ...rest }: IconButtonProps) {
  return (
    <button
      {...rest}
      type="button"
      className={css["icon"]}
      aria-label={badge ? `${label}, ${badge}` : label}
      aria-pressed={pressed}
      aria-expanded={expanded}
      aria-keyshortcuts={spokenKeys(keys)}
      data-tip={label}
      data-keys={keys}
    >
      {icon}
      {badge ? <span className={css["badge"]}>{badge > 99 ? "99+" : badge}</span> : null}
    </button>
  )
}
