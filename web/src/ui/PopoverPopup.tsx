/** The open panel of a popover: a chunk of its own, because of Base UI. */

import { CSPProvider } from "@base-ui/react/csp-provider"
import { Popover } from "@base-ui/react/popover"
import { useEffect, useRef } from "react"

import { pageNonce } from "./nonce.ts"
import css from "./Popover.module.css"
import type { PopoverAtProps } from "./Popover.tsx"

export default function PopoverPopup({ label, anchor, align = "start", children, onClose }: PopoverAtProps) {
  const element = anchor instanceof Element ? anchor : null
  const before = useRef(document.activeElement)
  const focusAfter = useRef<Element | null>(null)
  useEffect(() => {
    focusAfter.current = element ?? before.current
  }, [element])
  return (
    <CSPProvider nonce={pageNonce()}>
      <Popover.Root
        open
        onOpenChange={(_isOpen, { reason, event }) => {
          if (reason === "outside-press" && element?.contains(event.target as Node)) return
          onClose()
        }}
      >
        <Popover.Portal container={element?.closest("dialog") ?? document.body}>
          <Popover.Positioner className={css["positioner"]} anchor={anchor} side="bottom" align={align} sideOffset={6} collisionPadding={8}>
            <Popover.Popup className={css["popup"]} aria-label={label} finalFocus={focusAfter as { current: HTMLElement | null }}>
              {children}
            </Popover.Popup>
          </Popover.Positioner>
        </Popover.Portal>
      </Popover.Root>
    </CSPProvider>
  )
}
