/** Who has the notebook open, where they are, and following one of them. */

import type { CellId, Notebook } from "../core/types.gen.ts"
import { useField, useValue } from "../hooks/values.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import type { Present } from "../sync/presence.ts"
import { Button } from "../ui/Button.tsx"
import { PanelBody, PanelNote } from "../ui/Panel.tsx"
import { Person } from "../ui/Person.tsx"
import { followOf } from "./follow.ts"
import css from "./People.module.css"

export function PeoplePanel({ context }: { readonly context: PageContext }) {
  const { live, presence, open } = context
  const others = useValue(presence.others)
  const followed = useValue(followOf(live).window)
  useField(live, "order")
  return (
    <PanelBody>
      <ul className={css["people"]} data-follow>
        <li>
          <Person actor={open.me.actor} onBehalfOf={open.me.on_behalf_of} />
          <span className={css["where"]}>this window</span>
        </li>
        {others.map((other) => (
          <Other key={other.window} context={context} other={other} isFollowed={other.window === followed} />
        ))}
      </ul>
      {others.length === 0 && <PanelNote>Nobody else has this notebook open. Share, at the top, invites a person or lets an agent in.</PanelNote>}
      {followed !== null && <PanelNote>The page goes where they go. A key, a click or the wheel ends it.</PanelNote>}
    </PanelBody>
  )
}

function Other({ context, other, isFollowed }: { readonly context: PageContext; readonly other: Present; readonly isFollowed: boolean }) {
  const { live, open } = context
  const { cell, window, actor } = other
  const follow = followOf(live)
  const label = cell === null ? null : cellLabel(live.store.get(), cell)
  return (
    <li>
      <Person actor={actor} />
      {cell === null || label === null ? (
        <span className={css["where"]}>{actor === open.me.actor ? "your other window" : "reading"}</span>
      ) : (
        <button type="button" className={css["where"]} onClick={() => context.goTo(cell)}>
          in {label}
        </button>
      )}
      <Button kind="quiet" pressed={isFollowed} onClick={() => (isFollowed ? follow.end() : follow.start(context, window))}>
        {isFollowed ? "Following" : "Follow"}
      </Button>
    </li>
  )
}

/** The name of a cell, or its number; null for one that is gone. */
function cellLabel({ cells, order }: Notebook, id: CellId): string | null {
  const cell = cells.get(id)
  if (!cell || cell.removed) return null
  return cell.name ?? `cell ${order.filter((each) => cells.get(each)?.removed === false).indexOf(id) + 1}`
}
