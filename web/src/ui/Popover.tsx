/** A button that opens a small panel beside it. The panel's frame is in a chunk of its own. */

import { lazy, Suspense, useState } from "react"
import type { ReactNode } from "react"

import css from "./Button.module.css"
import { classes } from "./classes.ts"
import type { MenuAnchor } from "./Menu.tsx"

export interface PopoverAtProps {
  readonly label: string
  readonly anchor: MenuAnchor
  readonly align?: "start" | "center" | "end" | undefined
  readonly children: ReactNode
  readonly onClose: () => void
}

const load = () => import("./PopoverPopup.tsx")
const PopoverPopup = lazy(load)

/** An open panel beside `anchor`. */
export function PopoverAt(props: PopoverAtProps) {
  return (
    <Suspense fallback={null}>
      <PopoverPopup {...props} />
    </Suspense>
  )
}

export interface PopoverProps {
  /** What the panel is; also the button's name, if it shows an icon alone. */
  readonly label: string
  readonly icon?: ReactNode
  /** What the button shows. */
  readonly trigger?: ReactNode
  readonly kind?: "plain" | "quiet" | undefined
  readonly align?: "start" | "center" | "end" | undefined
  readonly keys?: string | undefined
  readonly children: ReactNode | ((close: () => void) => ReactNode)
}

export function Popover({ label, icon, trigger, kind = "quiet", align, keys, children }: PopoverProps) {
  const [isOpen, setOpen] = useState(false)
  const [button, setButton] = useState<HTMLButtonElement | null>(null)
  const isIcon = icon !== undefined && trigger === undefined
  const close = (): void => setOpen(false)
  return (
    <>
      <button
        ref={setButton}
        type="button"
        className={isIcon ? css["icon"] : classes(css["button"], css[kind])}
        aria-label={isIcon ? label : undefined}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        data-tip={isOpen ? undefined : label}
        data-keys={keys}
        onPointerEnter={preload}
        onFocus={preload}
        onClick={() => setOpen(!isOpen)}
      >
        {icon}
        {trigger ?? (isIcon ? null : label)}
      </button>
      {isOpen && button && (
        <PopoverAt label={label} anchor={button} align={align} onClose={close}>
          {typeof children === "function" ? children(close) : children}
        </PopoverAt>
      )}
    </>
  )
}

function preload(): void {
  void load()
}
