/**
 * A button that opens a menu, and a menu at any place (`MenuAt`): for the right mouse button, or a key.
 *
 * The menu itself is in another chunk, fetched once the pointer or the focus comes near the button.
 */

import { lazy, Suspense, useState } from "react"
import type { ReactNode } from "react"

import css from "./Button.module.css"
import { classes } from "./classes.ts"
import { spokenKeys } from "./Kbd.tsx"

export type MenuItem =
  | {
      readonly label: string
      readonly keys?: string | undefined
      readonly icon?: ReactNode
      readonly disabled?: boolean | undefined
      readonly danger?: boolean | undefined
      /** For an item that is on or off. */
      readonly checked?: boolean | undefined
      readonly onSelect: () => void
    }
  | "separator"

/** Something that a menu can be placed beside. */
export interface MenuAnchor {
  getBoundingClientRect(): DOMRect
}

export interface MenuAtProps {
  readonly label: string
  readonly items: readonly MenuItem[]
  readonly anchor: MenuAnchor
  readonly align?: "start" | "end" | undefined
  readonly onClose: () => void
}

const load = () => import("./MenuPopup.tsx")
const MenuPopup = lazy(load)

/** An open menu beside `anchor`. */
export function MenuAt(props: MenuAtProps) {
  return (
    <Suspense fallback={null}>
      <MenuPopup {...props} />
    </Suspense>
  )
}

export interface MenuProps {
  /** What it is a menu of; shown on the button if there is no icon. */
  readonly label: string
  readonly icon?: ReactNode
  /** What the button shows, if not its icon or label. */
  readonly children?: ReactNode
  readonly items: readonly MenuItem[] | (() => readonly MenuItem[])
  readonly kind?: "plain" | "quiet" | undefined
  readonly align?: "start" | "end" | undefined
  readonly keys?: string | undefined
  readonly tabIndex?: number | undefined
  readonly disabled?: boolean | undefined
}

export function Menu({ label, icon, children, items, kind = "quiet", align, keys, tabIndex, disabled }: MenuProps) {
  const [isOpen, setOpen] = useState(false)
  const [button, setButton] = useState<HTMLButtonElement | null>(null)
  const isIcon = icon !== undefined && children === undefined
  return (
    <>
      <button
        ref={setButton}
        type="button"
        className={isIcon ? css["icon"] : classes(css["button"], css[kind])}
        aria-label={isIcon ? label : undefined}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-keyshortcuts={spokenKeys(keys)}
        data-tip={isIcon && !isOpen ? label : undefined}
        data-keys={keys}
        tabIndex={tabIndex}
        disabled={disabled}
        onPointerEnter={preload}
        onFocus={preload}
        onClick={() => setOpen(!isOpen)}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown" || isOpen) return
          event.preventDefault()
          setOpen(true)
        }}
      >
        {icon}
        {children ?? (isIcon ? null : label)}
      </button>
      {isOpen && button && (
        <MenuAt
          label={label}
          items={typeof items === "function" ? items() : items}
          anchor={button}
          align={align}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  )
}

function preload(): void {
  void load()
}
