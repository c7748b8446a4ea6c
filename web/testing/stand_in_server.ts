/**
 * A server in memory that orders, rebases and refuses as docs/spec.md says, for tests that draw thousands of
 * interleavings. It speaks the frames of the socket; when a frame arrives is up to the test.
 */

import { appliedEdit, cellChanges } from "../src/core/events.ts"
import { sourceHash } from "../src/core/hash.ts"
import { pointLength } from "../src/core/points.ts"
import { Fold } from "../src/core/reduce.ts"
import { isSameEdit, rebase } from "../src/core/text.ts"
import { REDUCER } from "../src/core/types.gen.ts"
import type { ActorId, CellId, Draft, Edit, Entry, KnownEvent, Notebook } from "../src/core/types.gen.ts"
import { Fault } from "../src/sync/fault.ts"
import type { FromServer, ToServer } from "../src/sync/frames.ts"
import type { Connection } from "../src/sync/socket.ts"

export const LOG = "stand-in"

export class StandInServer {
  readonly log: Entry[] = []
  readonly lines = new Set<Line>()
  /** Whose drafts become proposals. */
  readonly asking = new Set<ActorId>()
  reducer: number = REDUCER
  /** Why nothing can be recorded now. */
  outage: string | null = null
  readonly #fold = new Fold()

  get notebook(): Notebook {
    return this.#fold.notebook()
  }

  /** Record drafts, all or none. */
  submit(actor: ActorId, drafts: readonly Draft[]): Entry[] {
    if (this.outage !== null) throw new Fault({ kind: "Unavailable", message: this.outage })
    const known = drafts.flatMap((draft) => this.log.filter((entry) => entry.id === draft.id))
    if (known.length === drafts.length) return known
    if (known.length) throw refused("Some of the drafts were recorded before.")
    if (this.asking.has(actor)) return [this.#append(actor, this.#proposal(drafts))]
    const trial = new Fold(this.#fold.notebook())
    const met = new Map<CellId, Edit[]>()
    const accepted = drafts.map(({ id, event }) => {
      const done = this.#accept(trial.now, event, met)
      trial.add(this.#entry(trial.now.seq + 1, actor, { id, event: done }))
      return { id, event: done }
    })
    return accepted.map((draft) => this.#append(actor, draft))
  }

  #proposal(drafts: readonly Draft[]): Draft {
    const [first] = drafts
    if (!first) throw refused("There is nothing to propose.")
    return { id: first.id, event: { type: "proposal_made", proposal: first.id, why: "", changes: drafts.flatMap(({ event }) => cellChanges(event)) } }
  }

  #append(actor: ActorId, draft: Draft): Entry {
    const entry = this.#entry(this.log.length + 1, actor, draft)
    this.#fold.add(entry)
    this.log.push(entry)
    return entry
  }

  #entry(seq: number, actor: ActorId, { id, event }: Draft): Entry {
    const at = new Date(Date.UTC(2026, 0, 1) + seq * 1000).toISOString().replace("Z", "000Z")
    return { log: LOG, seq, id, at, actor, event }
  }

  #accept(now: Notebook, event: KnownEvent, met: Map<CellId, Edit[]>): KnownEvent {
    switch (event.type) {
      case "cell_added":
        if (event.after !== null) known(now, event.after)
        if (event.after === event.cell) throw refused("A cell cannot go after itself.")
        if (now.cells.get(event.cell)?.removed === false) throw refused("That cell exists already.")
        return event
      case "cell_moved":
        known(now, event.cell)
        if (event.after !== null) known(now, event.after)
        if (event.after === event.cell) throw refused("A cell cannot go after itself.")
        return event
      case "cell_removed":
        if (event.base_hash && sourceHash(known(now, event.cell).source) !== event.base_hash) throw refused("It moved on.")
        known(now, event.cell)
        return event
      case "source_edited":
        return this.#rebased(now, event, met)
      case "execution_requested": {
        const cell = known(now, event.cell)
        if (cell.removed || sourceHash(cell.source) !== event.source_hash) throw refused("The source moved on.")
        if (cell.queued) throw new Fault({ kind: "Conflict", message: "It waits already." })
        return event
      }
      default:
        if ("cell" in event && typeof event.cell === "string") known(now, event.cell)
        return event
    }
  }

  #rebased(now: Notebook, event: Extract<KnownEvent, { type: "source_edited" }>, met: Map<CellId, Edit[]>): KnownEvent {
    const { cell, base, edit } = event
    if (event.applied !== undefined || typeof base !== "number" || !edit) throw refused("An edit is `edit` with `base`.")
    if (base < 1 || base > this.log.length) throw refused("There is no such number.")
    const source = known(now, cell).source
    const [applied, rest] = rebase(edit, met.get(cell) ?? this.#since(cell, base))
    met.set(cell, rest)
    const end = Math.max(0, ...applied.map(([at, remove]) => at + remove))
    if (end > pointLength(source)) throw refused(`The edit reaches past the end of ${cell}: ${JSON.stringify(event)}`)
    return isSameEdit(applied, edit) ? event : { ...event, applied }
  }

  #since(cell: CellId, base: number): Edit[] {
    return this.log.slice(base).flatMap((entry) =>
      cellChanges(entry.event).flatMap((change): Edit[] => {
        if (change.cell !== cell) return []
        if (change.type === "cell_added") throw refused(`The edit is from before ${cell} was added.`)
        return change.type === "source_edited" ? [appliedEdit(change)] : []
      }),
    )
  }
}

function known(now: Notebook, id: CellId): { readonly source: string; readonly removed: boolean; readonly queued: unknown } {
  const cell = now.cells.get(id)
  if (!cell || cell.scratch) throw new Fault({ kind: "NotFound", message: `There is no cell ${id}.` })
  return cell
}

function refused(message: string): Fault {
  return new Fault({ kind: "Refused", message })
}

/** One connection, with what is on its way in either direction. Nothing arrives by itself. */
export class Line implements Connection {
  onmessage: Connection["onmessage"] = null
  onclose: Connection["onclose"] = null
  readonly toServer: ToServer[] = []
  readonly toClient: FromServer[] = []
  readonly #server: StandInServer
  readonly #actor: ActorId
  /** By the id of `follow`, the last number that was sent. */
  readonly #follows = new Map<string, number>()
  #isClosed = false

  constructor(server: StandInServer, actor: ActorId) {
    this.#server = server
    this.#actor = actor
    server.lines.add(this)
    const { reducer } = server
    this.toClient.push({ type: "welcome", me: { actor, scopes: ["edit"] }, version: "0", tick_milliseconds: 20, reducer })
  }

  send(text: string): void {
    if (!this.#isClosed) this.toServer.push(JSON.parse(text) as ToServer)
  }

  close(): void {
    this.#isClosed = true
    this.#server.lines.delete(this)
  }

  /** Lose the connection, and with it whatever is on its way. */
  break(): void {
    if (this.#isClosed) return
    this.close()
    this.onclose?.({ code: 1006, reason: "" })
  }

  /** Let the server read the next frame. Returns whether there was one. */
  serve(): boolean {
    const frame = this.toServer.shift()
    if (!frame || this.#isClosed) return false
    if (frame.type === "follow") {
      this.#follows.set(frame.id, frame.since)
      this.#push(frame.id, true)
    } else if (frame.type === "stop") this.#follows.delete(frame.id)
    else if (frame.type === "submit") this.#submit(frame.id, frame.drafts)
    return true
  }

  #submit(id: string, drafts: readonly Draft[]): void {
    try {
      const entries = this.#server.submit(this.#actor, drafts)
      this.toClient.push({ type: "recorded", id, entries, proposed: entries[0]?.event.type === "proposal_made" })
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      this.toClient.push({ type: "failed", id, error: { kind: error.kind, message: error.message } })
    }
  }

  /** Put what was recorded meanwhile on its way. */
  publish(): boolean {
    return [...this.#follows.keys()].map((id) => this.#push(id, false)).includes(true)
  }

  #push(id: string, evenNothing: boolean): boolean {
    const since = this.#follows.get(id) ?? 0
    const entries = this.#server.log.slice(since)
    if (!entries.length && !evenNothing) return false
    this.#follows.set(id, this.#server.log.length)
    this.toClient.push({ type: "events", id, entries, head: this.#server.log.length })
    return true
  }

  /** Let the client read the next frame. Returns whether there was one. */
  deliver(): boolean {
    const frame = this.toClient.shift()
    if (!frame || this.#isClosed) return false
    this.onmessage?.({ data: JSON.stringify(frame) })
    return true
  }
}
