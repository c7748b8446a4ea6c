/** Whom an @ may become: a list below the field. */

import { Person } from "../ui/Person.tsx"
import css from "./Comments.module.css"
import type { MentionCompletion } from "./use_mention.ts"

export function MentionList({ mention }: { readonly mention: MentionCompletion }) {
  if (!mention.isOpen) return null
  return (
    <ul role="listbox" id={mention.listId} className={css["choices"]} aria-label="People and agents">
      {mention.choices.map((choice, index) => (
        <li
          key={choice.actor}
          id={mention.optionId(index)}
          role="option"
          aria-selected={index === mention.active}
          onPointerDown={(event) => {
            event.preventDefault() // the field keeps the focus
            mention.take(choice)
          }}
        >
          <Person actor={choice.actor} /> <span className={css["fact"]}>{choice.mention}</span>
        </li>
      ))}
    </ul>
  )
}
