/**
 * The buttons of the panels in the header, as far as there is room: the less used ones are folded into a menu.
 *
 * One that has a number on it, or whose panel is open, stays. Where the window is so narrow that no button is shown, the
 * notebook's menu has all panels.
 */

import { useLayoutEffect, useRef } from "react"
import type { ReactNode } from "react"
import type { PanelSpec } from "../hooks/panel.ts"
import { useValue } from "../hooks/values.ts"
import { Icon } from "../ui/Icon.tsx"
import { Menu } from "../ui/Menu.tsx"
import type { MenuItem } from "../ui/Menu.tsx"
import type { Page } from "./page.ts"
import styles from "./Header.module.css"

/** The panels that are folded, the first of these first. */
const FOLDED = ["files", "history", "activity", "outline", "runtime", "parameters", "find", "people", "comments", "proposals"]
/** So many pixels of a longer name are enough: a button is not folded for more. */
const NAME_WIDTH = 200

export function PanelButtons({ page, children }: { readonly page: Page; readonly children: ReactNode }) {
  const nav = useRef<HTMLElement>(null)
  const panels = useValue(page.panels).filter(({ isHidden }) => isHidden !== true)
  const names = panels.map(({ name }) => name).join(" ")
  useLayoutEffect(() => (nav.current ? keepFolded(nav.current, names.split(" ")) : undefined), [names])
  return (
    <>
      <nav ref={nav} className={styles["panels"]} aria-label="Panels">
        {children}
      </nav>
      <span className={styles["more"]}>
        <Menu label="More panels" icon={<Icon name="chevron-down" size={12} />} align="end" items={() => foldedItems(page, panels, nav.current)} />
      </span>
    </>
  )
}

function foldedItems(page: Page, panels: readonly PanelSpec[], nav: HTMLElement | null): MenuItem[] {
  const folded = panels.filter((_panel, place) => nav?.children[place]?.checkVisibility() === false)
  return folded.map(({ name, title, icon, key }) => ({
    label: title,
    icon,
    keys: key,
    // After the menu is gone and has given the focus back: the panel takes it.
    onSelect: () => setTimeout(() => page.openPanel(name)),
  }))
}

/** Fold as many buttons as it takes, now and whenever the room changes. `names` are those of the panels, in the order of the buttons. */
function keepFolded(nav: HTMLElement, names: readonly string[]): (() => void) | undefined {
  const header = nav.closest("header")
  const name = header?.querySelector<HTMLElement>("[data-name]")
  const space = header?.querySelector<HTMLElement>("[data-space]")
  if (!header || !name || !space) return undefined
  const buttons = FOLDED.flatMap((panel) => nav.children[names.indexOf(panel)] ?? [])
  const isRoomy = (): boolean => space.offsetWidth > 0 || !isCut(name.querySelector("input, h1"))
  const fold = (): void => {
    for (const button of buttons) button.removeAttribute("data-folded")
    header.removeAttribute("data-folds")
    for (const button of buttons) {
      if (isRoomy() && header.scrollWidth <= header.clientWidth) break
      button.setAttribute("data-folded", "")
      header.setAttribute("data-folds", "")
    }
  }
  let frame = 0
  // Not while sizes are told: what is folded changes those.
  const observer = new ResizeObserver(() => {
    cancelAnimationFrame(frame)
    frame = requestAnimationFrame(fold)
  })
  for (const element of [header, name, space]) observer.observe(element)
  fold()
  return () => {
    cancelAnimationFrame(frame)
    observer.disconnect()
  }
}

function isCut(text: HTMLElement | null): boolean {
  return text !== null && text.scrollWidth > text.clientWidth && text.clientWidth < NAME_WIDTH
}
