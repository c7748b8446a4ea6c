/** Completing an @ in a field: who matches what is written before the cursor, and taking one of them. */

import { useId, useRef, useState } from "react"
import type { KeyboardEvent, RefObject } from "react"

import { actorsIn, addressees, begunMention, matching } from "./known_actors.ts"
import type { Addressee } from "./known_actors.ts"
import type { CommentsContext } from "./state.ts"

export interface MentionCompletion {
  readonly isOpen: boolean
  readonly listId: string
  readonly choices: readonly Addressee[]
  readonly active: number
  readonly activeId: string | undefined
  readonly optionId: (index: number) => string
  /** See what stands before the cursor now. */
  readonly look: () => void
  readonly close: () => void
  readonly take: (choice: Addressee) => void
  /** Whether a key was for the list. */
  readonly press: (event: KeyboardEvent) => boolean
}

interface Parts {
  readonly context: CommentsContext
  readonly field: RefObject<HTMLTextAreaElement | null>
  readonly write: (text: string) => void
}

interface Begun {
  readonly text: string
  readonly choices: readonly Addressee[]
}

export function useMention({ context, field, write }: Parts): MentionCompletion {
  const listId = useId()
  const [begun, setBegun] = useState<Begun | null>(null)
  const [active, setActive] = useState(0)
  const known = useRef<readonly Addressee[] | null>(null)
  const optionId = (index: number): string => `${listId}-${index}`
  const close = (): void => setBegun(null)
  const look = (): void => {
    const element = field.current
    const text = element && element.selectionStart === element.selectionEnd ? begunMention(element.value.slice(0, element.selectionStart)) : null
    if (text === null) return void close()
    if (known.current === null) {
      known.current = here(context)
      void withTokens(context).then((all) => (known.current = all))
    }
    setBegun({ text, choices: matching(known.current, text) })
    setActive(0)
  }
  const take = (choice: Addressee): void => {
    const element = field.current
    if (!element || !begun) return
    const end = element.selectionStart
    const space = element.value.slice(end).startsWith(" ") ? "" : " "
    // In the page at once, with the cursor: what is typed next must not overtake it.
    element.setRangeText(`${choice.mention}${space}`, end - begun.text.length, end, "end")
    write(element.value)
    close()
  }
  const choices = begun?.choices ?? []
  const isOpen = choices.length > 0
  const press = (event: KeyboardEvent): boolean => {
    const choice = choices[active]
    if (!choice || event.ctrlKey || event.metaKey || event.altKey || event.nativeEvent.isComposing) return false
    if (event.key === "ArrowDown") setActive((active + 1) % choices.length)
    else if (event.key === "ArrowUp") setActive((active + choices.length - 1) % choices.length)
    else if (event.key === "Enter" || event.key === "Tab") take(choice)
    else if (event.key === "Escape") close()
    else return false
    event.preventDefault()
    event.stopPropagation()
    return true
  }
  return { isOpen, listId, choices, active, activeId: isOpen ? optionId(active) : undefined, optionId, look, close, take, press }
}

/** Those whom the notebook knows, and who are here. */
function here({ live, presence, open, involved = [] }: CommentsContext): readonly Addressee[] {
  const present = presence.others.get().flatMap(({ actor, onBehalfOf }) => [actor, onBehalfOf ?? actor])
  return addressees([...actorsIn(live.store.get()), ...involved, ...present, open.me.actor], open.me.actor)
}

/** The same with whoever has a token, for who may see those. */
async function withTokens(context: CommentsContext): Promise<readonly Addressee[]> {
  const { parts, open } = context
  const tokens = await parts.api.tokens().catch(() => [])
  const others = tokens.filter(({ state }) => state === "valid").map(({ allows }) => allows.actor)
  return addressees([...here(context).map(({ actor }) => actor), ...others, open.me.actor], open.me.actor)
}
