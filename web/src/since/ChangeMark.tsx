/** The mark in a cell's gutter that others did something to it: a shape by what they did, and a way to the difference. */

import type { Cell } from "../core/types.gen.ts"
import { useAsked, useValue } from "../hooks/values.ts"
import type { CellDeed } from "../sync/api_activity.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { seenOf } from "../sync/seen.ts"
import { Icon } from "../ui/Icon.tsx"
import type { IconName } from "../ui/Icon.tsx"
import css from "./Since.module.css"
import { deedText } from "./words.ts"

/** What weighs most comes first. */
const ICONS: readonly (readonly [CellDeed, IconName])[] = [
  ["added", "plus"],
  ["changed", "pencil"],
  ["ran", "play"],
  ["moved", "sort"],
  ["commented", "comment"],
]

export function ChangeMark({ context, cell }: { readonly context: PageContext; readonly cell: Cell }) {
  const seen = seenOf(context.live)
  const changes = useAsked(seen.news, (news) => news?.since.cells.find((one) => one.cell === cell.id) ?? null)
  const isOpen = useValue(seen.open).has(cell.id)
  if (!changes) return null
  const icon = ICONS.find(([deed]) => changes.did.includes(deed))?.[1] ?? "dot"
  const words = `Since you were here: ${deedText(changes, context.open.me.actor)}`
  return (
    <button
      type="button"
      className={css["mark"]}
      data-change={changes.did.join(" ")}
      aria-label={words}
      aria-expanded={isOpen}
      data-tip={words}
      onPointerDown={(event) => event.stopPropagation()}
      onClick={(event) => {
        event.stopPropagation()
        seen.open.set(new Set(isOpen ? [] : [cell.id]))
      }}
    >
      <Icon name={icon} size={12} />
    </button>
  )
}
