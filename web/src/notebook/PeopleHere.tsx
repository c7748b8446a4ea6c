/** Who else has the notebook open: a letter each, which leads to where they are. */

import { useValue } from "../hooks/values.ts"
import type { Present } from "../sync/presence.ts"
import { nameOf } from "../ui/Person.tsx"
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
          <button
            type="button"
            className={styles["peer"]}
            style={{ borderColor: `var(--peer-${colourOf(person.actor)})` }}
            aria-label={`${nameOf(person.actor)} is here. Go there`}
            data-tip={nameOf(person.actor)}
            onClick={() => person.cell !== null && page.goTo(person.cell)}
          >
            {nameOf(person.actor).slice(0, 1).toUpperCase()}
          </button>
        </li>
      ))}
      {people.length > MOST && <li>+{people.length - MOST}</li>}
    </ul>
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
