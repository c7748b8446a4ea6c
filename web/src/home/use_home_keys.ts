/** The keys of home: N new, O open, / filter, ? keys; arrows go from row to row, Enter opens as with any link. */

import { useEffect } from "react"
import type { RefObject } from "react"

import { moveRow, openRowMenu } from "../ui/row_keys.ts"
import type { HomeDialog } from "./HomeDialogs.tsx"
import type { Acts } from "./use_acts.ts"

export const HOME_KEYS: readonly { readonly keys: string; readonly title: string }[] = [
  { keys: "N", title: "New notebook" },
  { keys: "O", title: "Open a file from the folder" },
  { keys: "/", title: "Filter and search" },
  { keys: "ArrowDown", title: "Next row" },
  { keys: "ArrowUp", title: "Row before" },
  { keys: "Enter", title: "Open the row" },
  { keys: ".", title: "Menu of the row" },
  { keys: "Esc", title: "Clear the filter" },
  { keys: "?", title: "This list" },
]

export interface HomeKeysParts {
  readonly filterField: RefObject<HTMLInputElement | null>
  readonly list: RefObject<HTMLElement | null>
  readonly acts: Acts
  readonly setDialog: (dialog: HomeDialog) => void
  readonly isDialogOpen: boolean
}

export function useHomeKeys({ filterField, list, acts, setDialog, isDialogOpen }: HomeKeysParts): void {
  useEffect(() => {
    if (isDialogOpen) return
    const pressed = (key: string): boolean => {
      switch (key) {
        case "n":
          acts.create()
          return true
        case "o":
          setDialog({ kind: "open" })
          return true
        case "/":
          filterField.current?.focus()
          filterField.current?.select()
          return true
        case "?":
          setDialog({ kind: "keys" })
          return true
        case ".":
          return openRowMenu(document.activeElement)
        default:
          return false
      }
    }
    const press = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
      const isRowKey = event.key === "ArrowDown" || event.key === "ArrowUp"
      if (isRowKey ? isInPage(event.target) && moveRow(list.current, event.key === "ArrowDown" ? 1 : -1) : !isTyping(event.target) && pressed(event.key)) {
        event.preventDefault()
      }
    }
    document.addEventListener("keydown", press)
    return () => document.removeEventListener("keydown", press)
  }, [filterField, list, acts, setDialog, isDialogOpen])
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, textarea, select, [role=menu]") !== null
}

/** Arrows also leave the filter; they stay in menus and choices. */
function isInPage(target: EventTarget | null): boolean {
  return !(target instanceof Element && target.closest("[role=menu], [role=dialog], [aria-haspopup=menu], textarea, select"))
}
