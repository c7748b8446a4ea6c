/**
 * One connection to the server, made again whenever it is lost.
 *
 * It knows logs and lanes and no feature: who follows, listens or submits brings a function. What is followed goes on
 * from the number that its follower has, after every break; a submission whose answer was lost is its sender's to send
 * again. After a failure it waits, longer each time and with some chance in it.
 */

import type { ActorId, Draft, Entry, Json, LogId } from "../core/types.gen.ts"
import type { Cancel, Clock } from "./clock.ts"
import { Fault } from "./fault.ts"
import type { FromServer, Growth, ToServer, Welcome } from "./frames.ts"
import { Value } from "./store.ts"
import type { Stop } from "./store.ts"

/** What is used of a WebSocket. */
export interface Connection {
  onmessage: ((event: { readonly data: unknown }) => void) | null
  onclose: ((event: { readonly code: number; readonly reason: string }) => void) | null
  send(text: string): void
  close(): void
}

export type SocketState =
  | { readonly kind: "connecting" }
  | { readonly kind: "open" }
  | { readonly kind: "waiting"; readonly until: number }
  | { readonly kind: "signed_out"; readonly reason: string }
  | { readonly kind: "closed" }

export interface SocketParts {
  readonly connect: () => Connection
  readonly clock: Clock
  /** A number from 0 to 1. */
  readonly random: () => number
}

export interface Follower {
  /** The last number that it has. */
  since(): number
  take(entries: readonly Entry[], head: number): void
  failed(fault: Fault): void
}

export type Answer =
  | { readonly kind: "recorded"; readonly entries: readonly Entry[]; readonly proposed: boolean }
  | { readonly kind: "failed"; readonly fault: Fault }
  /** The connection was lost before an answer came: it may have been recorded. */
  | { readonly kind: "lost" }

const FIRST_WAIT = 500
const LONGEST_WAIT = 30_000
const SIGNED_OUT = 4401
const UNAVAILABLE = 4503

/** What was asked for and goes on until it is stopped. */
interface Subscription {
  ask(id: string): ToServer
  take(frame: FromServer): void
}

export class Socket {
  readonly state = new Value<SocketState>({ kind: "connecting" })
  readonly welcome = new Value<Welcome | null>(null)
  /** Why nothing can be recorded or read now, though the server answers; null when it can, as far as is known. */
  readonly unsaved = new Value<Fault | null>(null)
  readonly #parts: SocketParts
  readonly #subscriptions = new Map<Subscription, string>()
  readonly #answers = new Map<string, (answer: Answer) => void>()
  #connection: Connection | null = null
  #isGreeted = false
  #failures = 0
  #lastId = 0
  #again: Cancel = () => undefined

  constructor(parts: SocketParts) {
    this.#parts = parts
  }

  get isOpen(): boolean {
    return this.state.get().kind === "open"
  }

  /** Connect, and go on doing so. */
  start(): void {
    this.#again()
    this.state.set({ kind: "connecting" })
    const connection = this.#parts.connect()
    this.#connection = connection
    connection.onmessage = (event) => {
      if (connection === this.#connection) this.#take(JSON.parse(String(event.data)) as FromServer)
    }
    connection.onclose = (event) => {
      if (connection === this.#connection) this.#lose(event.code, event.reason)
    }
  }

  /** Try now, without waiting any longer: the machine is on a network again, or somebody pressed a button. */
  retry(): void {
    if (this.state.get().kind === "waiting") this.start()
  }

  /** Stop for good. */
  close(): void {
    this.#again()
    this.#drop()
    this.state.set({ kind: "closed" })
  }

  /** Send the entries of a log after those that the follower has, and then whatever comes. */
  follow(log: LogId, follower: Follower): Stop {
    return this.#subscribe({
      ask: (id) => ({ type: "follow", id, log, since: follower.since() }),
      take: (frame) => {
        if (frame.type === "failed") follower.failed(new Fault(frame.error))
        else if (frame.type === "events") follower.take(frame.entries, frame.head)
      },
    })
  }

  /** Tell which logs grow, from now on and without a gap over breaks. */
  feed(grown: (growth: readonly Growth[]) => void): Stop {
    let position: number | undefined
    return this.#subscribe({
      ask: (id) => ({ type: "feed", id, ...(position === undefined ? {} : { since: position }) }),
      take: (frame) => {
        if (frame.type !== "grown") return
        position = frame.position
        if (frame.growth.length) grown(frame.growth)
      },
    })
  }

  /** Tell what is said on a lane of a log. */
  listen(log: LogId, lane: string, hear: (message: Json, by: ActorId) => void): Stop {
    return this.#subscribe({
      ask: (id) => ({ type: "listen", id, log, lane }),
      take: (frame) => {
        if (frame.type === "said") hear(frame.message, frame.by)
      },
    })
  }

  /** Say something on a lane, to whoever listens now. Returns whether there was a connection to say it on. */
  say(log: LogId, lane: string, message: Json): boolean {
    return this.#send({ type: "say", log, lane, message })
  }

  /** Record drafts in a log. `answer` is called once, later; submissions are recorded in the order in which they are sent. */
  submit(log: LogId, drafts: readonly Draft[], answer: (answer: Answer) => void): void {
    const id = this.#newId()
    this.#answers.set(id, answer)
    if (!this.#send({ type: "submit", id, log, drafts })) {
      this.#answers.delete(id)
      answer({ kind: "lost" })
    }
  }

  /** Ask for the last number of a log, from `since` on. Not called if the connection is lost meanwhile. */
  askHead(log: LogId, since: number, answer: (head: number) => void): void {
    const stop = this.#subscribe({
      ask: (id) => ({ type: "follow", id, log, since }),
      take: (frame) => {
        if (frame.type !== "events") return
        stop()
        answer(frame.head)
      },
    })
  }

  #subscribe(subscription: Subscription): Stop {
    this.#subscriptions.set(subscription, "")
    if (this.#isGreeted) this.#ask(subscription)
    return () => {
      const id = this.#subscriptions.get(subscription)
      this.#subscriptions.delete(subscription)
      if (id) this.#send({ type: "stop", id })
    }
  }

  #ask(subscription: Subscription): void {
    const id = this.#newId()
    this.#subscriptions.set(subscription, id)
    this.#send(subscription.ask(id))
  }

  #newId(): string {
    this.#lastId += 1
    return String(this.#lastId)
  }

  #send(frame: ToServer): boolean {
    if (!this.#isGreeted || !this.#connection) return false
    this.#connection.send(JSON.stringify(frame))
    return true
  }

  #take(frame: FromServer): void {
    if (frame.type === "welcome") this.#greet(frame)
    else if (frame.id !== undefined) this.#dispatch(frame, frame.id)
  }

  #dispatch(frame: FromServer, id: string): void {
    const answer = this.#answers.get(id)
    if (answer) {
      this.#answers.delete(id)
      if (frame.type === "recorded") answer({ kind: "recorded", entries: frame.entries, proposed: frame.proposed ?? false })
      else if (frame.type === "failed") answer({ kind: "failed", fault: new Fault(frame.error) })
      return
    }
    for (const [subscription, its] of this.#subscriptions) {
      if (its !== id) continue
      if (frame.type === "failed") this.#subscriptions.set(subscription, "") // it is over, until the next connection
      subscription.take(frame)
      return
    }
  }

  #greet(welcome: Welcome): void {
    this.#failures = 0
    this.#isGreeted = true
    this.unsaved.set(null)
    this.welcome.set(welcome)
    // Those who wait for the state may submit at once: what is followed is asked for first.
    for (const subscription of [...this.#subscriptions.keys()]) this.#ask(subscription)
    this.state.set({ kind: "open" })
  }

  #drop(): void {
    const connection = this.#connection
    this.#connection = null
    this.#isGreeted = false
    connection?.close()
    const answers = [...this.#answers.values()]
    this.#answers.clear()
    for (const subscription of this.#subscriptions.keys()) this.#subscriptions.set(subscription, "")
    for (const answer of answers) answer({ kind: "lost" })
  }

  #lose(code: number, reason: string): void {
    if (code === SIGNED_OUT) {
      this.state.set({ kind: "signed_out", reason })
      this.#drop()
      return
    }
    const longest = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** this.#failures)
    const wait = longest * (0.5 + this.#parts.random() / 2)
    this.#failures += 1
    this.state.set({ kind: "waiting", until: this.#parts.clock.now() + wait })
    this.#drop()
    this.unsaved.set(code === UNAVAILABLE ? new Fault({ kind: "Unavailable", message: reason }) : null)
    this.#again = this.#parts.clock.after(wait, () => this.start())
  }
}
