/** Who has the notebook open, people and agents: where they are, what they do, and following one of them. */

import { lazy, Suspense } from "react"

import { activityOf, activityText, labelOf, proposers } from "../core/activity.ts"
import type { ActorId } from "../core/types.gen.ts"
import { useField, useShown, useValue } from "../hooks/values.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import type { Present } from "../sync/presence.ts"
import { Button } from "../ui/Button.tsx"
import { PanelBody, PanelNote } from "../ui/Panel.tsx"
import { nameOf, Person } from "../ui/Person.tsx"
import { followOf } from "./follow.ts"
import css from "./People.module.css"

const AgentControls = lazy(async () => ({ default: (await import("./AgentControls.tsx")).AgentControls }))

/** Somebody who is here, or whose proposal is. */
interface Somebody {
  readonly actor: ActorId
  readonly onBehalfOf: ActorId | null
  /** Their window; null for an agent that only left a proposal. */
  readonly place: Present | null
}

export function PeoplePanel({ context }: { readonly context: PageContext }) {
  const { live, presence, open } = context
  const others = useValue(presence.others)
  const followed = useValue(followOf(live).window)
  useField(live, "order")
  useField(live, "proposals")
  const away = [...proposers(live.store.get())].filter(([actor]) => actor !== open.me.actor && !others.some((other) => other.actor === actor))
  const everybody: readonly Somebody[] = [
    ...others.map((place) => ({ actor: place.actor, onBehalfOf: place.onBehalfOf, place })),
    ...away.map(([actor, onBehalfOf]) => ({ actor, onBehalfOf, place: null })),
  ]
  return (
    <PanelBody>
      <ul className={css["people"]} data-follow>
        <li>
          <Person actor={open.me.actor} onBehalfOf={open.me.on_behalf_of} />
          <span className={css["where"]}>this window</span>
        </li>
        {everybody.map((somebody) => (
          <SomebodyRow
            key={somebody.place?.window ?? somebody.actor}
            context={context}
            somebody={somebody}
            isFollowed={somebody.place !== null && somebody.place.window === followed}
          />
        ))}
      </ul>
      {everybody.length === 0 && <PanelNote>Nobody else is here. Share, at the top, invites a person or lets an agent in.</PanelNote>}
      <Suspense fallback={null}>
        <AgentControls context={context} />
      </Suspense>
      {followed !== null && <PanelNote>The page goes where they go. A key, a click or the wheel ends it.</PanelNote>}
    </PanelBody>
  )
}

interface RowProps {
  readonly context: PageContext
  readonly somebody: Somebody
  readonly isFollowed: boolean
}

function SomebodyRow({ context, somebody, isFollowed }: RowProps) {
  const { live, open } = context
  const { actor, onBehalfOf, place } = somebody
  const follow = followOf(live)
  // What runs is in the cells: looked at with them.
  useShown(live, (notebook) => activityText(notebook, activityOf(notebook, actor, place), false))
  const activity = activityOf(live.store.get(), actor, place)
  const isMine = actor === open.me.actor
  const words = `${isMine ? "your other window, " : ""}${activityText(live.store.get(), activity, open.me.scopes.includes("approve"))}`
  const { cell } = activity
  return (
    <li data-actor={actor}>
      <Person actor={actor} onBehalfOf={onBehalfOf} me={isMine ? undefined : open.me.actor} />
      {cell === null || labelOf(live.store.get(), cell) === null ? (
        <span className={css["where"]}>{words}</span>
      ) : (
        <button type="button" className={css["where"]} onClick={() => context.goTo(cell)}>
          {words}
        </button>
      )}
      {place !== null && (
        <Button
          kind="quiet"
          pressed={isFollowed}
          title={isFollowed ? undefined : `Go where ${nameOf(actor)} goes`}
          onClick={() => (isFollowed ? follow.end() : follow.start(context, place.window))}
        >
          {isFollowed ? "Following" : "Follow"}
        </Button>
      )}
    </li>
  )
}
