/** The rail: one panel at the right of the cells; a sheet over them where there is no room. */

import { useEffect, useRef } from "react"
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
  useEffect(() => {
    // Opened by a person: the next Tab goes into it. One that is remembered takes no focus.
    const rail = element.current
    if (page.takePanelAsked()) (rail?.querySelector<HTMLElement>("[data-autofocus]") ?? rail)?.focus({ preventScroll: true })
  }, [page, panel.name])
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
          <PanelContent page={page} panel={panel} />
        </div>
      </aside>
    </>
  )
}

function PanelContent({ page, panel }: { readonly page: Page; readonly panel: PanelSpec }) {
  return panel.render(page)
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
