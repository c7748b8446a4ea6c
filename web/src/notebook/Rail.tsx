/** The rail: one panel at the right of the cells; a sheet over them where there is no room. */

import { Suspense, useEffect, useRef } from "react"
import type { RefObject } from "react"
import type { PanelSpec } from "../hooks/panel.ts"
import { useValue } from "../hooks/values.ts"
import { Icon } from "../ui/Icon.tsx"
import { IconButton } from "../ui/IconButton.tsx"
import type { Page } from "./page.ts"
import styles from "./Page.module.css"

export function Rail({ page, panel }: { readonly page: Page; readonly panel: PanelSpec }) {
  const element = useRef<HTMLElement>(null)
  const close = (): void => {
    page.openPanel(null)
    page.returnFocus()
  }
  return (
    <>
      <div className={styles["scrim"]} onClick={close} aria-hidden="true" />
      <aside
        ref={element}
        className={styles["rail"]}
        aria-label={panel.title}
        tabIndex={-1}
        data-rail-panel={panel.name}
        onKeyDown={(event) => {
          if (event.key === "Escape" && !event.defaultPrevented) close()
        }}
      >
        <header className={styles["railHead"]}>
          <h2>{panel.title}</h2>
          <IconButton label="Close" icon={<Icon name="cross" size={14} />} onClick={close} />
        </header>
        <div key={panel.name} className={styles["railBody"]}>
          <Suspense fallback={null}>
            <PanelContent page={page} panel={panel} />
            <TakeFocus page={page} rail={element} />
          </Suspense>
        </div>
      </aside>
    </>
  )
}

function PanelContent({ page, panel }: { readonly page: Page; readonly panel: PanelSpec }) {
  return panel.render(page)
}

/**
 * Gives the focus to a panel that a person opened, once its code is there; one that is remembered takes none.
 *
 * What was typed since is typed into its field.
 */
function TakeFocus({ page, rail }: { readonly page: Page; readonly rail: RefObject<HTMLElement | null> }) {
  useEffect(() => {
    if (!page.takePanelAsked()) return
    const field = rail.current?.querySelector<HTMLElement>("[data-autofocus]")
    const target = field ?? rail.current
    target?.focus({ preventScroll: true })
    const early = page.takeEarlyText()
    if (!early || !(field instanceof HTMLInputElement)) return
    field.setRangeText(early, field.selectionStart ?? 0, field.selectionEnd ?? 0, "end")
    field.dispatchEvent(new InputEvent("input", { bubbles: true }))
  }, [page, rail])
  return null
}

export function RailButtons({ page, panels }: { readonly page: Page; readonly panels: readonly PanelSpec[] }) {
  const open = useValue(page.panel)
  const shown = panels.filter(({ isHidden }) => isHidden !== true)
  return shown.map((panel) => <RailButton key={panel.name} page={page} panel={panel} isOpen={open === panel.name} />)
}

function RailButton({ page, panel, isOpen }: { readonly page: Page; readonly panel: PanelSpec; readonly isOpen: boolean }) {
  return (
    <IconButton
      label={panel.title}
      icon={panel.icon}
      pressed={isOpen}
      keys={panel.key}
      badge={panel.badge?.(page)}
      onClick={() => page.togglePanel(panel.name)}
    />
  )
}
