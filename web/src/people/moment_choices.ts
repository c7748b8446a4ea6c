/** The moments since which one can undo, and what they are to the server. */

import type { UndoSpan } from "../sync/api_undo.ts"
import type { Choice } from "../ui/Field.tsx"

export type MomentName = "looked" | "opened" | "hour" | "all" | "number"

/** When this person last looked at the notebook, and how far it was then. */
export interface LastLook {
  readonly seq: number
  readonly at: string | null
}

export interface Known {
  /** Null where nothing is new since. */
  readonly look: LastLook | null
  /** How far the log was when the page was opened. */
  readonly seq: number
  /** The server's time, in milliseconds. */
  readonly now: number
  readonly number: string
}

const HOUR = 3_600_000

export function momentChoices({ now, look }: Pick<Known, "now" | "look">): readonly Choice[] {
  return [
    { value: "all", label: "Everything" },
    ...(look ? [{ value: "looked", label: `Since my last look${look.at ? ` (${timeOf(Date.parse(look.at))})` : ""}` }] : []),
    { value: "hour", label: `The last hour (since ${timeOf(now - HOUR)})` },
    { value: "opened", label: "Since I opened this page" },
    { value: "number", label: "Since an event…" },
  ]
}

/** Since when, as the server takes it; null while it is not said. */
export function spanOf(moment: MomentName, { look, seq, now, number }: Known): UndoSpan | null {
  switch (moment) {
    case "all":
      return {}
    case "looked":
      return look && { since: look.seq }
    case "opened":
      return { since: seq }
    case "hour":
      return { after: new Date(now - HOUR).toISOString().replace(/(\.\d{3})Z$/, "$1000Z") }
    case "number":
      return /^\d{1,15}$/.test(number.trim()) ? { since: Number(number) } : null
  }
}

/** The same in the title: "since event 12". */
export function momentTitle(moment: MomentName, { look, number }: Pick<Known, "look" | "number">): string {
  switch (moment) {
    case "all":
      return "in this notebook"
    case "looked":
      return look?.at ? `since ${timeOf(Date.parse(look.at))}` : "since my last look"
    case "opened":
      return "since this page was opened"
    case "hour":
      return "in the last hour"
    case "number":
      return number.trim() ? `since event ${number.trim()}` : "since an event"
  }
}

function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })
}
