/** The keys of the table: arrows go from row to row, Space selects, C compares, / filters; Enter opens as with any link. */

import { useEffect } from "react"
import type { RefObject } from "react"

import { moveRow, openRowMenu } from "../ui/row_keys.ts"

export const TABLE_KEYS: readonly { readonly keys: string; readonly title: string }[] = [
  { keys: "ArrowDown", title: "Next run" },
  { keys: "ArrowUp", title: "Run before" },
  { keys: "Enter", title: "Open the run" },
  { keys: "Space", title: "Select the run to compare" },
  { keys: "C", title: "Compare the two that are selected" },
  { keys: ".", title: "Menu of the run" },
  { keys: "/", title: "Filter" },
]

export interface TableKeysParts {
  readonly list: RefObject<HTMLElement | null>
  readonly field: RefObject<HTMLInputElement | null>
  readonly isDialogOpen: boolean
  readonly onSelect: (run: string) => void
  readonly onCompare: () => void
}

export function useTableKeys({ list, field, isDialogOpen, onSelect, onCompare }: TableKeysParts): void {
  useEffect(() => {
    if (isDialogOpen) return
    const pressed = (key: string, target: Element | null): boolean => {
      switch (key) {
        case "ArrowDown":
        case "ArrowUp":
          return moveRow(list.current, key === "ArrowDown" ? 1 : -1)
        case "/":
          field.current?.focus()
          field.current?.select()
          return true
        case " ":
          return selectRow(target, onSelect)
        case "c":
        case "C":
          onCompare()
          return true
        case ".":
          return openRowMenu(target)
        default:
          return false
      }
    }
    const press = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
      const target = event.target instanceof Element ? event.target : null
      const isArrow = event.key === "ArrowDown" || event.key === "ArrowUp"
      // Arrows also leave the filter; all else is typed there.
      if (target?.closest("textarea, select, dialog, [role=menu], [role=dialog]") || (target?.closest("input:not([type=checkbox])") && !isArrow)) return
      if (pressed(event.key, target)) event.preventDefault()
    }
    document.addEventListener("keydown", press)
    return () => document.removeEventListener("keydown", press)
  }, [list, field, isDialogOpen, onSelect, onCompare])
}

/** A button or a box does with Space what it always does. */
function selectRow(target: Element | null, onSelect: (run: string) => void): boolean {
  if (target?.closest("button, input")) return false
  const run = target?.closest<HTMLElement>("[data-row]")?.dataset["run"]
  if (run === undefined) return false
  onSelect(run)
  return true
}
