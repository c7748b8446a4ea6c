/** A line above the cells for each agent of this notebook that is paused, with the button that lets it go on. */

import { useEffect } from "react"

import { useField, useValue } from "../hooks/values.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { pausesOf } from "../sync/pauses.ts"
import { Button } from "../ui/Button.tsx"
import { setPausedActors } from "../ui/paused_actors.ts"
import { nameOf } from "../ui/Person.tsx"
import css from "./Agents.module.css"
import { letGo } from "./let_go.ts"
import { workersOf } from "./workers.ts"

export function PausedNotice({ context }: { readonly context: PageContext }) {
  const { live, open, parts } = context
  const list = pausesOf(parts)
  const paused = useValue(list.paused)
  useField(live, "cells")
  useField(live, "proposals")
  useEffect(() => list.watch(), [list])
  useEffect(() => setPausedActors(paused.filter(({ token }) => token === null).map(({ actor }) => actor)), [paused])
  if (paused.length === 0) return null
  const here = new Set(workersOf(live.store.get()).map(({ actor }) => actor))
  return paused
    .filter(({ actor }) => here.has(actor))
    .map((each) => (
      <div key={each.token ?? each.actor} className={css["line"]} role="status">
        <span>
          {each.token !== null && "A token of "}
          {nameOf(each.actor)} is paused by {each.by === open.me.actor ? "you" : nameOf(each.by)}
          {each.why && `: ${each.why.replace(/\.$/, "")}`}. Until it is resumed, everything is refused to it.
        </span>
        <Button kind="quiet" onClick={() => void letGo(context, each)}>
          Resume
        </Button>
      </div>
    ))
}
