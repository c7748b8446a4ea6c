/** Who did something: a mark by kind and a name; "codex for ada" for an agent that somebody sent. */

import { Icon } from "./Icon.tsx"
import type { IconName } from "./Icon.tsx"
import { useIsPaused } from "./paused_actors.ts"
import css from "./Person.module.css"

export interface PersonProps {
  /** "human:ada", "agent:codex". */
  readonly actor: string
  readonly onBehalfOf?: string | null | undefined
  /** The actor of this browser: shown as "you". */
  readonly me?: string | undefined
  /** Without the mark. */
  readonly plain?: boolean | undefined
}

const KINDS: Readonly<Record<string, { readonly icon: IconName; readonly word: string }>> = {
  human: { icon: "person", word: "person" },
  agent: { icon: "robot", word: "agent" },
  runtime: { icon: "kernel", word: "runtime" },
  system: { icon: "gear", word: "system" },
  mirror: { icon: "file", word: "file" },
}

export function Person({ actor, onBehalfOf, me, plain = false }: PersonProps) {
  const kind = kindOf(actor)
  const isPaused = useIsPaused(actor)
  const { icon, word } = KINDS[kind] ?? { icon: "gear", word: kind }
  return (
    <span className={css["person"]} data-kind={kind}>
      {!plain && (
        <span className={css["mark"]}>
          <Icon name={icon} size={14} />
          <span className="visually-hidden">{word} </span>
        </span>
      )}
      <span className={css["name"]}>{actor === me ? "you" : nameOf(actor)}</span>
      {onBehalfOf && onBehalfOf !== actor && <span className={css["for"]}> for {onBehalfOf === me ? "you" : nameOf(onBehalfOf)}</span>}
      {isPaused && <span className={css["paused"]}>paused</span>}
    </span>
  )
}

/** "human" of "human:ada". */
export function kindOf(actor: string): string {
  const colon = actor.indexOf(":")
  return colon < 0 ? actor : actor.slice(0, colon)
}

/** "ada" of "human:ada". */
export function nameOf(actor: string): string {
  return actor.slice(actor.indexOf(":") + 1) || actor
}

/** Who, in plain words: "codex for ada". */
export function personText(actor: string, onBehalfOf?: string | null, me?: string): string {
  const name = (one: string): string => (one === me ? "you" : nameOf(one))
  return onBehalfOf && onBehalfOf !== actor ? `${name(actor)} for ${name(onBehalfOf)}` : name(actor)
}
