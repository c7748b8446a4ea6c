/** What the page says about a proposal: who wants what, what became of it, and why a part cannot be. Pure. */

import type { Problem } from "../core/proposal_preview.ts"
import type { ActorId, CellChange, CellId, CellKind, Notebook, Proposal, RunCell } from "../core/types.gen.ts"
import { visible } from "../core/visible.ts"
import { nameOf } from "../ui/Person.tsx"

const KINDS: Record<CellKind, string> = { code: "code", markdown: "Markdown", raw: "raw text", sql: "SQL", prompt: "prompt" }

/** "ada", or "you". */
export function named(actor: ActorId, me: ActorId): string {
  return actor === me ? "you" : visible(nameOf(actor))
}

/** "codex, for you,". */
export function askedBy({ by, on_behalf_of: behalf }: Pick<Proposal, "by" | "on_behalf_of">, me: ActorId): string {
  return behalf && behalf !== by ? `${named(by, me)}, for ${named(behalf, me)},` : named(by, me)
}

/** What stands in the place of a reason: an agent's tools do not always give one. "codex gave no reason". */
export function noReason({ by }: Pick<Proposal, "by">, me: ActorId): string {
  return `${named(by, me)} gave no reason`
}

/** "wants to change 2 cells, add 1 and run 1". */
export function wants({ changes, effects }: Pick<Proposal, "changes" | "effects">): string {
  const cells = (of: (change: CellChange) => boolean): number => new Set(changes.filter(of).map(({ cell }) => cell)).size
  const added = new Set(changes.flatMap(({ type, cell }) => (type === "cell_added" ? [cell] : [])))
  const counts: [verb: string, count: number][] = [
    ["change", cells(({ type, cell }) => type !== "cell_added" && type !== "cell_removed" && !added.has(cell))],
    ["add", added.size],
    ["remove", cells(({ type }) => type === "cell_removed")],
    ["run", effects.length],
  ]
  const told = counts.filter(([, count]) => count > 0)
  const parts = told.map(([verb, count], place) => `${verb} ${count}${place === 0 ? (count === 1 ? " cell" : " cells") : ""}`)
  return `wants to ${listed(parts)}`
}

/** "a, b and c". */
export function listed(parts: readonly string[]): string {
  return parts.length < 2 ? (parts[0] ?? "") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`
}

/** What a cell is called: its name, or its place among those that a person sees. */
export function cellName(now: Notebook, after: Notebook, id: CellId): string {
  const cell = now.cells.get(id)
  if (cell?.name) return visible(cell.name)
  const place = now.order.filter((each) => now.cells.get(each)?.removed === false).indexOf(id)
  if (place >= 0) return `cell ${place + 1}`
  const proposed = after.cells.get(id)?.name
  if (cell) return "a removed cell"
  return proposed ? visible(proposed) : "the new cell"
}

type Name = (cell: CellId) => string

/** A change in a few words: "Change load", "Move load to the top". */
export function changeWords(change: CellChange, name: Name): string {
  const cell = name(change.cell)
  switch (change.type) {
    case "source_edited":
      return `Change ${cell}`
    case "cell_added":
      return `Add a ${KINDS[change.kind ?? "code"]} cell${change.name ? ` “${visible(change.name)}”` : ""} ${place(change.after, name)}`
    case "cell_removed":
      return `Remove ${cell}`
    case "cell_moved":
      return `Move ${cell} ${change.after === null ? "to the top" : `behind ${name(change.after)}`}`
    case "cell_kind_changed":
      return `Make ${cell} ${KINDS[change.kind]}`
    case "cell_named":
      return change.name === null ? `Take the name of ${cell} away` : `Name ${cell} “${visible(change.name)}”`
    case "cell_tagged":
      return change.tags.length ? `Tag ${cell}: ${change.tags.map(visible).join(", ")}` : `Take all tags of ${cell} away`
    case "cell_metadata_set":
      return `Set metadata of ${cell}: ${visible(JSON.stringify({ ...change.values, ...Object.fromEntries((change.removed ?? []).map((key) => [key, null])) }))}`
  }
}

function place(after: CellId | null, name: Name): string {
  return after === null ? "at the top" : `behind ${name(after)}`
}

export function effectWords({ cell, source, needs }: RunCell, name: Name): string {
  const what = typeof source === "string" ? "Run code without a cell" : `Run ${name(cell)}`
  return needs ? `${what}, once the one before it has ended well` : what
}

/** Why a part cannot be accepted now. */
export function problemWords(problem: Problem, name: Name, me: ActorId): string {
  switch (problem.kind) {
    case "unknown":
      return "Looking up what was changed since…"
    case "gone":
      return `Cannot be applied any more: ${name(problem.cell)} was removed.`
    case "exists":
      return "Cannot be applied any more: a cell with its id is there already."
    case "changed":
      return `Cannot be applied any more: ${problem.by ? named(problem.by, me) : "somebody"} changed the text since, and this was made for the text before.`
    case "void":
      return "Void: the code moved on since it was proposed. What is there now would run, and nobody has agreed to that."
    case "queued":
      return `Waits to run already, asked for by ${named(problem.by, me)}.`
    case "used":
      return "Was run already."
    case "needs":
      return "Builds on a part that cannot be applied, or is left out."
  }
}

/** "carried over ada's edit". */
export function carriedWords(actors: readonly ActorId[], me: ActorId): string {
  const owners = actors.map((actor) => (actor === me ? "your" : `${named(actor, me)}'s`))
  return `Carried over ${listed(owners)} ${actors.length > 1 ? "edits" : "edit"}`
}

/** How a proposal ended: "accepted by ada". Who says it adds when. */
export function verdictWords({ state, decided_by: by }: Proposal, me: ActorId): string {
  if (state === "expired") return "Expired: nobody answered in time"
  if (state === "withdrawn") return `Withdrawn by ${named(by ?? "", me)}`
  return `${state === "accepted" ? "Accepted" : "Declined"} by ${named(by ?? "", me)}`
}

/** Why the buttons are missing. */
export function whyNotWords(whyNot: "own" | "not_human" | "no_right" | "expired", { by }: Proposal, me: ActorId): string {
  switch (whyNot) {
    case "own":
      return by === me ? "This is your own proposal: somebody else with the right to approve has to answer it." : `This is ${named(by, me)}'s own proposal: only somebody else can answer it.`
    case "not_human":
      return "Only a person with the right to approve can answer a proposal."
    case "no_right":
      return `Only a person with the right to approve can accept or decline; you do not have it here. It is ${named(by, me)}'s proposal.`
    case "expired":
      return "It has expired: nobody answered in time. Ask for a new one."
  }
}
