/** What others did since somebody looked, in words. Pure. */

import type { ActorId } from "../core/types.gen.ts"
import type { ActorChanges, CellChanges, CellDeed } from "../sync/api_activity.ts"
import { nameOf, personText } from "../ui/Person.tsx"

/** More are counted: the line is to stay a line. */
const MOST_ACTORS = 3

/** "codex for you changed 3 cells, ada ran 5 and removed 1". The first number has its noun. */
export function newsText(actors: readonly ActorChanges[], me: ActorId): string {
  let isNamed = false
  const cells = (count: number): string => {
    const noun = isNamed ? "" : count === 1 ? " cell" : " cells"
    isNamed = true
    return `${count}${noun}`
  }
  const told = actors.slice(0, MOST_ACTORS).map((one) => `${whoText(one, me)} ${listed(deedTexts(one, cells))}`)
  const rest = actors.length - told.length
  return [...told, ...(rest ? [`and ${rest} ${rest === 1 ? "other" : "others"}`] : [])].join(", ")
}

function whoText({ actor, on_behalf_of: behalf, file }: ActorChanges, me: ActorId): string {
  return file ?? personText(actor, behalf, me)
}

function deedTexts(one: ActorChanges, cells: (count: number) => string): string[] {
  const texts: string[] = []
  const say = (count: number | undefined, text: (count: number) => string): void => {
    if (count) texts.push(text(count))
  }
  say(one.added, (count) => `added ${cells(count)}`)
  say(one.changed, (count) => `changed ${cells(count)}`)
  say(one.moved, (count) => `moved ${cells(count)}`)
  say(one.removed, (count) => `removed ${cells(count)}`)
  say(one.ran, (count) => `ran ${cells(count)}`)
  say(one.commented, (count) => (count === 1 ? "commented" : `commented ${count} times`))
  say(one.proposed, (count) => (count === 1 ? "made a proposal" : `made ${count} proposals`))
  return texts
}

/** "changed and ran" of a cell, by whom: "changed and ran by codex". */
export function deedText({ did, by }: CellChanges, me: ActorId): string {
  const words = did.length > 1 ? did.filter((deed) => deed !== "changed" || !did.includes("added")) : did
  return `${listed(words.map((deed) => WORDS[deed]))} by ${listed(by.map((actor) => (actor === me ? "you" : nameOf(actor))))}`
}

const WORDS: Record<CellDeed, string> = { added: "added", changed: "changed", moved: "moved", removed: "removed", ran: "run", commented: "commented on" }

/** "a", "a and b", "a, b and c". */
export function listed(words: readonly string[]): string {
  return words.length <= 1 ? (words[0] ?? "") : `${words.slice(0, -1).join(", ")} and ${words.at(-1) ?? ""}`
}
