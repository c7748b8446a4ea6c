/** The open menu: a chunk of its own, because of Base UI. */

import { CSPProvider } from "@base-ui/react/csp-provider"
import { Menu } from "@base-ui/react/menu"
import { useEffect, useRef } from "react"

import { classes } from "./classes.ts"
import { Icon } from "./Icon.tsx"
import { Kbd } from "./Kbd.tsx"
import type { MenuAtProps, MenuItem } from "./Menu.tsx"
import css from "./Menu.module.css"
import { pageNonce } from "./nonce.ts"

export default function MenuPopup({ label, items, anchor, align = "start", onClose }: MenuAtProps) {
  const element = anchor instanceof Element ? anchor : null
  const before = useRef(document.activeElement)
  const focusAfter = useRef<Element | null>(null)
  useEffect(() => {
    focusAfter.current = element ?? before.current
  }, [element])
  return (
    <CSPProvider nonce={pageNonce()}>
      <Menu.Root
        open
        modal={false}
        onOpenChange={(_isOpen, { reason, event }) => {
          // A press on the button is the button's: it closes the menu by itself, and must not open it again.
          if (reason === "outside-press" && element?.contains(event.target as Node)) return
          onClose()
        }}
      >
        <Menu.Portal container={element?.closest("dialog") ?? document.body}>
          <Menu.Positioner className={css["positioner"]} anchor={anchor} side="bottom" align={align} sideOffset={4} collisionPadding={8}>
            <Menu.Popup className={css["popup"]} aria-label={label} finalFocus={focusAfter as { current: HTMLElement | null }}>
              {items.map((item, index) =>
                item === "separator" ? <Menu.Separator key={index} className={css["separator"]} /> : <Item key={index} item={item} />,
              )}
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
    </CSPProvider>
  )
}

function Item({ item }: { readonly item: Exclude<MenuItem, "separator"> }) {
  const { label, keys, icon, disabled = false, danger, checked, onSelect } = item
  const content = (
    <>
      <span className={css["icon"]}>{checked ? <Icon name="check" /> : icon}</span>
      <span className={css["label"]}>{label}</span>
      {keys && <Kbd keys={keys} />}
    </>
  )
  const className = classes(css["item"], danger && css["danger"])
  if (checked === undefined) {
    return (
      <Menu.Item className={className} disabled={disabled} label={label} onClick={onSelect}>
        {content}
      </Menu.Item>
    )
  }
  return (
    <Menu.CheckboxItem className={className} disabled={disabled} label={label} checked={checked} closeOnClick onCheckedChange={onSelect}>
      {content}
    </Menu.CheckboxItem>
  )
}
