/** Who can be addressed with an @: those who did something in the notebook, are here, or have a token that this person may see. */

import { means, mentions } from "../core/comments.ts"
import type { ActorId, Notebook } from "../core/types.gen.ts"

/** A name to complete: what is written for it. */
export interface Addressee {
  readonly actor: ActorId
  /** "@codex"; "@agent:codex" where a person has that name too. */
  readonly mention: string
}

/** Everybody whom a notebook knows. */
export function actorsIn(notebook: Notebook): Set<ActorId> {
  const found = new Set<ActorId | null | undefined>([notebook.created_by])
  for (const { by, on_behalf_of } of [...notebook.comments.values(), ...notebook.proposals.values()]) found.add(by).add(on_behalf_of)
  for (const cell of notebook.cells.values()) {
    found.add(cell.added_by).add(cell.edited_by)
    for (const execution of [cell.execution, cell.queued]) if (execution) found.add(execution.by).add(execution.on_behalf_of)
  }
  return new Set([...found].filter((actor) => actor !== null && actor !== undefined))
}

/** How to address each of them, by name; without oneself, and without names that an @ cannot address. */
export function addressees(actors: Iterable<ActorId>, me: ActorId): Addressee[] {
  const known = [...new Set(actors)].filter((actor) => /^(?:human|agent):/u.test(actor))
  return known
    .filter((actor) => actor !== me)
    .map((actor) => {
      const name = actor.slice(actor.indexOf(":") + 1)
      const isOnly = known.filter((other) => addressed(`@${name}`, other)).length === 1
      return { actor, mention: isOnly ? `@${name}` : `@${actor}` }
    })
    .filter(({ actor, mention }) => addressed(mention, actor))
    .toSorted((one, other) => (one.mention.toLowerCase() < other.mention.toLowerCase() ? -1 : 1))
}

function addressed(text: string, actor: ActorId): boolean {
  const [first, ...more] = mentions(text)
  return first !== undefined && more.length === 0 && first.end === text.length && means(first, actor)
}

/** The @ and the letters before the cursor that can still become a name; null where none is being written. */
export function begunMention(before: string): string | null {
  return /(?:^|[^\p{L}\p{N}_@/:.+-])(@[\p{L}\p{N}_.+:-]{0,100})$/u.exec(before)?.[1] ?? null
}

/** Those whose name begins like what is written, also where the kind is left out; nobody, where there is nothing left to write. */
export function matching(all: readonly Addressee[], begun: string, most = 6): Addressee[] {
  const typed = begun.slice(1).toLowerCase()
  const found = all.filter(({ actor }) => [actor, actor.slice(actor.indexOf(":") + 1)].some((name) => name.toLowerCase().startsWith(typed)))
  return found.length === 1 && found[0]?.mention.toLowerCase() === begun.toLowerCase() ? [] : found.slice(0, most)
}
