/** Comments that are typed and not sent: kept in this browser by what they are about, so that a reload loses none. */

import type { LogId } from "../core/types.gen.ts"

/** What a comment is about: `cell:ID`, `line:CELL:HASH:LINE`, `notebook`, `reply:THREAD`, or `edit:COMMENT`. */
export type DraftTarget = "notebook" | `cell:${string}` | `line:${string}` | `reply:${string}` | `edit:${string}`

type DraftStorage = Pick<Storage, "getItem" | "setItem" | "removeItem">

export class CommentDrafts {
  readonly #storage: DraftStorage
  readonly #key: string

  constructor(log: LogId, storage: DraftStorage) {
    this.#storage = storage
    this.#key = `quire:comments:${log}`
  }

  get(target: DraftTarget): string {
    return this.#read().get(target) ?? ""
  }

  /** The targets of what is typed. */
  targets(): DraftTarget[] {
    return [...this.#read().keys()] as DraftTarget[]
  }

  /** Keep what is typed; an empty text is forgotten. */
  set(target: DraftTarget, text: string): void {
    // Read again each time: another window of this browser keeps its own there.
    const drafts = this.#read()
    if (text.trim()) drafts.set(target, text)
    else drafts.delete(target)
    try {
      if (drafts.size) this.#storage.setItem(this.#key, JSON.stringify([...drafts]))
      else this.#storage.removeItem(this.#key)
    } catch {
      // Full, or closed to this page: it is there as long as the page is.
    }
  }

  #read(): Map<string, string> {
    try {
      const kept = JSON.parse(this.#storage.getItem(this.#key) ?? "[]") as unknown
      return new Map(Array.isArray(kept) ? (kept as unknown[]).filter(isDraft) : [])
    } catch {
      return new Map()
    }
  }
}

function isDraft(entry: unknown): entry is [string, string] {
  return Array.isArray(entry) && typeof entry[0] === "string" && typeof entry[1] === "string"
}
