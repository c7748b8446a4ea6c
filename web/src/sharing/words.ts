/** Who may do what, in one sentence each. */

import type { Role } from "../core/types.gen.ts"
import type { AccessLine, NotebookAccess } from "../sync/api_sharing.ts"
import { nameOf } from "../ui/Person.tsx"

/** What somebody does with a scope. Reading is said only where there is nothing else. */
const VERBS = [
  ["edit", "edit"],
  ["run", "run"],
  ["approve", "accept proposals"],
  ["admin", "share it"],
] as const

const ASKS: Readonly<Record<string, string>> = { edit: "edits", run: "runs" }

/** "grace may edit and run here", "codex, for ada, may read and asks before it edits or runs". */
export function accessSentence(line: AccessLine, me: string): string {
  return `${subject(line, me)} ${predicate(line, me)}.`
}

function subject({ actor, on_behalf_of: behalf }: AccessLine, me: string): string {
  const name = actor === me ? "You" : nameOf(actor)
  return behalf === null ? name : `${name}, for ${behalf === me ? "you" : nameOf(behalf)},`
}

function predicate(line: AccessLine, me: string): string {
  const isMe = line.actor === me
  const role = line.role ?? "nobody"
  if (line.state === "out") return `${isMe ? "are" : "is"} ${role} here, and ${isMe ? "have" : "has"} no way to come in now: make a link`
  if (line.state === "invited") return `is invited until ${dayAndTime(line.until)}, and may ${rights(line)} here then`
  const made = line.source === "made" ? "made this notebook, and " : ""
  return `${made}may ${rights(line)}${line.asks.length ? "" : " here"}`
}

function rights({ scopes, asks }: AccessLine): string {
  const free = VERBS.filter(([scope]) => scopes.includes(scope) && !asks.includes(scope)).map(([, verb]) => verb)
  const may = free.length ? list(free, "and") : "read"
  const asked = asks.flatMap((scope) => ASKS[scope] ?? [])
  return asked.length ? `${may} and asks before it ${list(asked, "or")}` : may
}

/** "Everybody who can sign in may come in", or who may. */
export function openSentence({ is_open: isOpen }: NotebookAccess): string {
  return isOpen
    ? "Open: everybody who can sign in may come in, and do here what their token allows."
    : "Closed: only these may come in."
}

export const ROLES: readonly { readonly value: Role; readonly label: string; readonly help: string }[] = [
  { value: "viewer", label: "Viewer", help: "reads" },
  { value: "editor", label: "Editor", help: "edits, runs and accepts proposals" },
  { value: "owner", label: "Owner", help: "also shares the notebook, and lets agents in" },
]

export function roleLabel(role: Role): string {
  return ROLES.find(({ value }) => value === role)?.label ?? role
}

function list(words: readonly string[], last: "and" | "or"): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1) ?? ""}`
}

/** A time as people say it: "19 Nov, 10:24". */
export function dayAndTime(at: string | null): string {
  if (at === null) return "any time"
  return new Date(at).toLocaleString("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" })
}
