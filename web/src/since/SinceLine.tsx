/** The line above the cells: who did what since this person was here, and the way through it. */

import { useState } from "react"

import { visible } from "../core/visible.ts"
import { useLiveOrder, useValue } from "../hooks/values.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { seenOf } from "../sync/seen.ts"
import type { News } from "../sync/seen.ts"
import { Button } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Time } from "../ui/Time.tsx"
import css from "./Since.module.css"
import { usePast } from "./use_past.ts"
import { walk } from "./walk.ts"
import { deedText, newsText } from "./words.ts"

export function SinceLine({ context }: { readonly context: PageContext }) {
  const seen = seenOf(context.live)
  const news = useValue(seen.news)
  const [isRemovedShown, setRemovedShown] = useState(false)
  const order = useLiveOrder(context.live)
  if (!news) return null
  const removed = news.since.cells.filter(({ did }) => did.includes("removed"))
  const isAnyThere = news.since.cells.some(({ cell }) => order.includes(cell))
  return (
    <section className={css["line"]} aria-label="Since you were here">
      <div className={css["words"]}>
        <Icon name="eye" size={14} />
        <p role="status">
          <Lead news={news} /> {visible(newsText(news.since.actors, context.open.me.actor))}
          {news.since.partial && ", and more before that"}
        </p>
        <div className={css["buttons"]}>
          {isAnyThere && (
            <Button keys="Alt-]" title="Go to the next change" onClick={() => walk(context, 1)}>
              Show
            </Button>
          )}
          {removed.length > 0 && (
            <Button pressed={isRemovedShown} onClick={() => setRemovedShown(!isRemovedShown)}>
              {removed.length === 1 ? "1 removed cell" : `${removed.length} removed cells`}
            </Button>
          )}
          <Button kind="quiet" onClick={() => seen.dismiss()}>
            Dismiss
          </Button>
        </div>
      </div>
      {isRemovedShown && removed.length > 0 && <Removed context={context} news={news} />}
    </section>
  )
}

function Lead({ news: { at, isAway } }: { readonly news: News }) {
  if (isAway) return <b>While you were away:</b>
  return (
    <b>
      Since you were here{at === null ? "" : ", "}
      {at !== null && <Time at={at} />}:
    </b>
  )
}

function Removed({ context, news }: { readonly context: PageContext; readonly news: News }) {
  const { notebook, fault } = usePast(context)
  if (fault !== null) return <p role="alert">{fault}</p>
  if (!notebook) return null
  const removed = news.since.cells.filter(({ did }) => did.includes("removed"))
  return (
    <ul className={css["removed"]} aria-label="Removed cells">
      {removed.map((changes) => {
        const cell = notebook.cells.get(changes.cell)
        return (
          <li key={changes.cell}>
            <span>
              {cell?.name ? <code>{visible(cell.name)}</code> : "A cell"} {deedText({ ...changes, did: ["removed"] }, context.open.me.actor)}, <Time at={changes.at} />
            </span>
            {cell && <pre tabIndex={0}>{visible(cell.source)}</pre>}
          </li>
        )
      })}
    </ul>
  )
}
