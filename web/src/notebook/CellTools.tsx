/** What can be pressed at a cell: run, stop, menu. Only where the focus or the pointer is. */

import { useRef } from "react"
import { action } from "../actions/table.ts"
import { cellState, runs } from "../core/notebook.ts"
import type { Cell } from "../core/types.gen.ts"
import { useValue } from "../hooks/values.ts"
import { Icon } from "../ui/Icon.tsx"
import { IconButton } from "../ui/IconButton.tsx"
import { MenuAt } from "../ui/Menu.tsx"
import type { MenuItem } from "../ui/Menu.tsx"
import styles from "./Cell.module.css"
import { menuItem } from "./menu_items.tsx"
import type { Page } from "./page.ts"

interface Props {
  readonly page: Page
  readonly cell: Cell
  readonly isFocused: boolean
}

export function CellTools({ page, cell, isFocused }: Props) {
  const bar = useRef<HTMLDivElement>(null)
  const tabIndex = isFocused ? 0 : -1
  const { id } = cell
  const state = cellState(cell)
  const isOpen = state === "running" || state === "queued"
  const run = (): void => {
    page.view.press(id)
    page.doNamed("run.cell")
  }
  const stop = (): void => page.stop([id])
  return (
    <div ref={bar} className={styles["tools"]} role="toolbar" aria-label="Cell">
      {runs(cell) && page.mayRun && (
        <IconButton
          label={isOpen ? (state === "running" ? "Interrupt" : "Cancel") : "Run"}
          icon={<Icon name={isOpen ? "stop" : "play"} size={14} />}
          keys={isOpen ? undefined : "Mod-Enter"}
          tabIndex={tabIndex}
          onClick={isOpen ? stop : run}
        />
      )}
      {page.mayEdit && (
        <IconButton label="Add a cell below" icon={<Icon name="plus" size={14} />} keys="B" tabIndex={tabIndex} onClick={() => page.add(id, "code")} />
      )}
      <IconButton
        label="Cell menu"
        icon={<Icon name="more" size={14} />}
        keys="."
        tabIndex={tabIndex}
        onClick={() => {
          page.view.press(id)
          page.actions.ui.openCellMenu(id)
        }}
      />
      {isFocused && <OpenMenu page={page} cell={cell} />}
    </div>
  )
}

const MENU = [
  ["run.advance", "run.above", "run.below"],
  ["cell.above", "cell.below", "cell.duplicate"],
  ["cell.cut", "cell.copy", "cell.paste"],
  ["cell.move_up", "cell.move_down", "cell.merge"],
  ["cell.code", "cell.markdown", "cell.sql", "cell.raw"],
  ["cell.name", "cell.tags"],
  ["cell.fold_output", "cell.fold_source"],
] as const

function OpenMenu({ page, cell }: { readonly page: Page; readonly cell: Cell }) {
  const overlay = useValue(page.overlay)
  if (overlay?.kind !== "menu" || overlay.cell !== cell.id) return null
  const anchor = document.querySelector(`#cell-${CSS.escape(cell.id)} [role=toolbar] button:last-of-type`)
  if (!anchor) return null
  return <MenuAt label="Cell" items={cellMenu(page)} anchor={anchor} align="end" onClose={() => page.closeOverlay("menu")} />
}

function cellMenu(page: Page): MenuItem[] {
  const groups = MENU.map((names) => names.map((name) => menuItem(page, action(name))))
  const history = page.hasPanel("history") ? [{ label: "Who wrote, versions…", onSelect: () => page.openPanel("history") }] : []
  const comment = page.all.some(({ name }) => name === "comments.add") ? [menuItem(page, action("comments.add", page.all))] : []
  const remove = { ...(menuItem(page, action("cell.remove")) as Exclude<MenuItem, "separator">), danger: true }
  return [...groups, [...history, ...comment], [remove]].filter((group) => group.length).flatMap((group, index): MenuItem[] => (index ? ["separator", ...group] : group))
}
