/** What waits for this person's answer: proposals of agents, questions of running cells, conflicts with files, comments. */

import type { Waiting } from "../sync/api_types.ts"
import { Icon } from "../ui/Icon.tsx"
import type { IconName } from "../ui/Icon.tsx"
import { Person } from "../ui/Person.tsx"
import { Time } from "../ui/Time.tsx"
import rows from "../ui/Rows.module.css"
import { classes } from "../ui/classes.ts"
import css from "./Home.module.css"

const KINDS: Readonly<Record<Waiting["kind"], { readonly icon: IconName; readonly words: string }>> = {
  proposal: { icon: "pencil", words: "proposes" },
  question: { icon: "question", words: "ran it" },
  conflict: { icon: "warning", words: "changed the file" },
  comment: { icon: "comment", words: "comments" },
}

export function WaitingList({ waiting, me }: { readonly waiting: readonly Waiting[]; readonly me: string | undefined }) {
  if (waiting.length === 0) return null
  return (
    <section aria-labelledby="waiting">
      <h2 id="waiting" className={rows["heading"]}>
        Waits for you <span className={rows["number"]}>{waiting.length}</span>
      </h2>
      <ul className={rows["rows"]}>
        {waiting.map((item) => (
          <WaitingRow key={`${item.kind} ${item.id}`} item={item} me={me} />
        ))}
      </ul>
    </section>
  )
}

/** What stands in the place of a text that is empty. */
const NO_TEXT: Partial<Record<Waiting["kind"], string>> = { proposal: "No reason given" }

/** The log of a review has an id that says so. */
function isReview(log: string): boolean {
  return /^review-[0-9a-f]{40}$/.test(log)
}

function WaitingRow({ item, me }: { readonly item: Waiting; readonly me: string | undefined }) {
  const { icon, words } = KINDS[item.kind]
  const target = item.kind === "proposal" ? `#proposal=${encodeURIComponent(item.id)}` : item.cell ? `#cell=${encodeURIComponent(item.cell)}` : ""
  return (
    <li className={classes(rows["row"], css["waiting"])} data-row data-kind={item.kind}>
      <span className={rows["kind"]}>
        <Icon name={icon} />
      </span>
      <span className={rows["title"]}>
        <a className={rows["link"]} href={isReview(item.log) ? `/reviews/${encodeURIComponent(item.log)}` : `/notebooks/${encodeURIComponent(item.log)}${target}`}>
          {item.text || NO_TEXT[item.kind] || item.name}
        </a>
      </span>
      <span className={rows["fact"]}>{item.text || NO_TEXT[item.kind] ? item.name : ""}</span>
      <span className={rows["fact"]}>
        <Person actor={item.by} onBehalfOf={item.on_behalf_of} me={me} /> {words} · <Time at={item.at} />
      </span>
    </li>
  )
}
