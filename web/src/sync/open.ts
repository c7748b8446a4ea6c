/**
 * Opening a notebook: from the server, with what was left unsent here; or from storage, when the server is away.
 *
 * A notebook that is opened from storage can be read and edited. Once the server is back it is read anew, and what was
 * done meanwhile is brought up to it and sent.
 */

import { REDUCER } from "../core/types.gen.ts"
import type { Entry, EventId, LogId, Notebook } from "../core/types.gen.ts"
import { Outdated } from "./api.ts"
import type { Api } from "./api.ts"
import type { Cancel, Clock } from "./clock.ts"
import { Fault } from "./fault.ts"
import type { Me } from "./frames.ts"
import { Live } from "./live.ts"
import type { Journal } from "./live.ts"
import { Outbox } from "./outbox.ts"
import type { OutboxParts } from "./outbox.ts"
import { Pending } from "./pending.ts"
import { oldestText, recover } from "./recover.ts"
import { readSnapshot, takeSnapshot } from "./snapshots.ts"
import type { Snapshots } from "./snapshots.ts"
import type { Socket } from "./socket.ts"
import { Value } from "./store.ts"
import type { Stop } from "./store.ts"

export interface OpenParts extends OutboxParts {
  readonly api: Api
  readonly socket: Socket
  readonly clock: Clock
  readonly snapshots: Snapshots
  readonly newId: () => EventId
  readonly isShared?: (cell: string) => boolean
}

export type OpenState =
  /** It follows the log. */
  | { readonly kind: "live" }
  /** It is what this browser last saw. */
  | { readonly kind: "stored" }
  /** The page is of another version than the server, or the notebook cannot be read any more. */
  | { readonly kind: "outdated" }
  | { readonly kind: "failed"; readonly fault: Fault }

const SNAPSHOT_MILLISECONDS = 3000
const RETRY_MILLISECONDS = 2000
/** What an execution that has ended may bring along: what is larger is read when it comes into view (`cutSize`). */
const OUTPUT_BYTES = 20_000

/** Open a notebook. Fails with a `Fault` if the server says no, or is away and the browser has not seen it. */
export async function openNotebook(log: LogId, parts: OpenParts): Promise<OpenNotebook> {
  try {
    const [me, notebook] = await Promise.all([parts.api.me(), parts.api.notebook(log, { outputs: OUTPUT_BYTES })])
    const opened = new OpenNotebook(log, me, notebook, parts)
    await opened.begin()
    return opened
  } catch (error) {
    if (!isAway(error)) throw error
    const snapshot = await parts.snapshots.read(log)
    const notebook = readSnapshot(snapshot)
    if (!snapshot || !notebook) throw error
    const opened = new OpenNotebook(log, snapshot.me, notebook, parts)
    opened.beginStored()
    return opened
  }
}

function isAway(error: unknown): boolean {
  return error instanceof Fault && error.isPassing
}

export class OpenNotebook {
  readonly live: Live
  readonly outbox: Outbox
  readonly me: Me
  readonly state = new Value<OpenState>({ kind: "stored" })
  /** Why the notebook could not be kept for when the server is away. */
  readonly snapshotFault = new Value<string | null>(null)
  readonly #log: LogId
  readonly #parts: OpenParts
  readonly #stops: Stop[] = []
  #stopFollowing: Stop = () => undefined
  #snapshotTimer: Cancel | null = null
  #retry: Cancel | null = null
  #isReading = false

  constructor(log: LogId, me: Me, notebook: Notebook, parts: OpenParts) {
    this.#log = log
    this.me = me
    this.#parts = parts
    this.outbox = new Outbox(me.actor, log, parts)
    this.live = new Live(notebook, {
      log,
      me,
      socket: parts.socket,
      clock: parts.clock,
      newId: parts.newId,
      keep: (journal) => this.outbox.write(journal),
      ...(parts.isShared ? { isShared: parts.isShared } : {}),
      reload: () => void this.#readAgain(),
    })
    this.#stops.push(
      parts.socket.welcome.subscribe(() => this.#greeted()),
      parts.socket.state.subscribe(() => this.#connected()),
      this.live.store.subscribe("seq", () => this.#scheduleSnapshot()),
    )
  }

  /** Follow the log from what the server answered, and take over what was left here. */
  async begin(): Promise<void> {
    this.#stopFollowing = this.live.follow()
    this.state.set({ kind: "live" })
    this.outbox.adopt((journal) => this.#takeOver(journal))
    await this.saveSnapshot()
  }

  /** Show what this browser last saw, with what was typed since. */
  beginStored(): void {
    this.outbox.adopt((journal) => this.#takeOver(journal))
    this.#connected()
  }

  /** Keep the notebook for when the server is away. */
  async saveSnapshot(): Promise<void> {
    if (this.state.get().kind !== "live") return
    try {
      await this.#parts.snapshots.write(this.#log, takeSnapshot(this.live.confirmed, this.me))
    } catch (error) {
      // The storage is full, or closed to this page: it cannot be opened without the server then, and that is all.
      this.snapshotFault.set(String(error))
    }
  }

  close(): void {
    this.#snapshotTimer?.()
    this.#retry?.()
    this.#stopFollowing()
    for (const stop of this.#stops.splice(0)) stop()
    this.live.close()
    this.outbox.close()
  }

  /** The server may have been updated while this page was open: what was typed is kept for the page that is loaded next. */
  #greeted(): void {
    const { reducer = REDUCER } = this.#parts.socket.welcome.get() ?? {}
    if (reducer === REDUCER) return
    this.#stopFollowing()
    this.state.set({ kind: "outdated" })
  }

  #connected(): void {
    const { kind } = this.state.get()
    if (!this.#parts.socket.isOpen) return
    if (kind === "stored") void this.#readAgain()
    else if (kind === "live") this.outbox.adopt((journal) => this.#takeOver(journal))
  }

  /** Go on with a journal. Returns whether it is in this window's own from now on. */
  async #takeOver(journal: Journal): Promise<boolean> {
    if (this.state.get().kind === "stored") return this.#takeOverStored(journal)
    const newest = Math.max(0, ...journal.texts.map(([, seq]) => seq))
    if (newest > this.live.seq) {
      this.live.whenAt(newest, () => this.#connected())
      return false
    }
    const entries: Entry[] = []
    for (let last = oldestText(journal, this.live.seq); last < this.live.seq; ) {
      const until = this.live.seq
      entries.push(...(await this.#parts.api.entries(this.#log, last, until)))
      last = until
    }
    this.live.adopt(recover(journal, entries, this.#parts.clock.now()))
    return true
  }

  /** The same without the server: on the texts that the journal has, unless other edits wait on another version of one. */
  #takeOverStored(journal: Journal): boolean {
    const waiting = new Set(this.live.journal()?.texts.map(([cell]) => cell))
    if (journal.texts.some(([cell]) => waiting.has(cell))) return false
    this.live.adopt(Pending.read(journal.pending, this.#parts.clock.now()), journal.texts)
    return true
  }

  /** Begin anew from what the server has now. */
  async #readAgain(): Promise<void> {
    if (this.#isReading) return
    this.#isReading = true
    try {
      this.#stopFollowing()
      const notebook = await this.#parts.api.notebook(this.#log, { outputs: OUTPUT_BYTES })
      await this.#resetTo(notebook)
      this.#parts.socket.unsaved.set(null)
      await this.begin()
    } catch (error) {
      this.#failed(error)
    } finally {
      this.#isReading = false
    }
  }

  /** Show `notebook` with what waits brought up to it; somebody may go on typing while the entries for that are read. */
  async #resetTo(notebook: Notebook): Promise<void> {
    let entries: readonly Entry[] = []
    for (let from = notebook.seq; ; ) {
      const journal = this.live.journal()
      const oldest = journal ? oldestText(journal, notebook.seq) : notebook.seq
      if (oldest >= from) {
        this.live.reset(notebook, journal ? recover(journal, entries, this.#parts.clock.now()) : new Pending())
        return
      }
      entries = await this.#parts.api.entries(this.#log, oldest, notebook.seq)
      from = oldest
    }
  }

  #failed(error: unknown): void {
    if (error instanceof Outdated) this.state.set({ kind: "outdated" })
    else if (!(error instanceof Fault)) throw error
    else if (!error.isPassing) this.state.set({ kind: "failed", fault: error })
    else {
      this.state.set({ kind: "stored" })
      if (error.status) this.#parts.socket.unsaved.set(error) // the server answers, and says why it cannot read
      this.#retry?.()
      this.#retry = this.#parts.clock.after(RETRY_MILLISECONDS, () => this.#connected())
    }
  }

  #scheduleSnapshot(): void {
    this.#snapshotTimer ??= this.#parts.clock.after(SNAPSHOT_MILLISECONDS, () => {
      this.#snapshotTimer = null
      void this.saveSnapshot()
    })
  }
}
