/** Who else has the notebook open: a letter for each person, a mark for each agent, which lead to where they are. */

import { activityOf, activityText } from "../core/activity.ts"
import type { Notebook } from "../core/types.gen.ts"
import { useShown, useValue } from "../hooks/values.ts"
import type { Present } from "../sync/presence.ts"
import { Icon } from "../ui/Icon.tsx"
import { kindOf, nameOf, personText } from "../ui/Person.tsx"
import type { Page } from "./page.ts"
import { colourOf } from "./peers.ts"
import styles from "./Header.module.css"

const MOST = 5

export function PeopleHere({ page }: { readonly page: Page }) {
  const others = useValue(page.presence.others)
  const people = onePerActor(others, page.open.me.actor)
  if (!people.length) return null
  return (
    <ul className={styles["people"]} aria-label="Here now">
      {people.slice(0, MOST).map((person) => (
        <li key={person.actor}>
          <OneHere page={page} person={person} />
        </li>
      ))}
      {people.length > MOST && <li>+{people.length - MOST}</li>}
    </ul>
  )
}

function OneHere({ page, person }: { readonly page: Page; readonly person: Present }) {
  const { actor, onBehalfOf } = person
  const mayApprove = page.open.me.scopes.includes("approve")
  const words = (notebook: Notebook): string => activityText(notebook, activityOf(notebook, actor, person), mayApprove)
  const does = useShown(page.live, words)
  const who = personText(actor, onBehalfOf, page.open.me.actor)
  const isAgent = kindOf(actor) === "agent"
  const go = (): void => {
    const { cell } = activityOf(page.live.store.get(), actor, person)
    if (cell !== null) page.goTo(cell)
  }
  return (
    <button
      type="button"
      className={styles["peer"]}
      data-agent={isAgent || undefined}
      style={{ borderColor: `var(--peer-${colourOf(actor)})` }}
      aria-label={`${who} is here, ${does}. Go there`}
      data-tip={`${who}: ${does}`}
      onClick={go}
    >
      {isAgent ? <Icon name="robot" size={14} /> : nameOf(actor).slice(0, 1).toUpperCase()}
    </button>
  )
}

/** One for each, and not oneself in another window. */
function onePerActor(others: readonly Present[], me: string): Present[] {
  const people = new Map<string, Present>()
  for (const other of others) {
    if (other.actor === me) continue
    const known = people.get(other.actor)
    if (!known || (known.cell === null && other.cell !== null)) people.set(other.actor, other)
  }
  return [...people.values()]
}
