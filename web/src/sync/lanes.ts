/**
 * Questions and answers on the lanes of a log: what a runtime completes, inspects, asks and says about itself.
 *
 * Nothing of it is kept. docs/reference/socket.md lists the messages; kinds that are not known here are passed over. What
 * is not from a runtime is no kernel's answer.
 */

import type { ActorId, ExecutionId, Json, JsonObject, LogId, RuntimeId } from "../core/types.gen.ts"
import type { Clock } from "./clock.ts"
import type { Socket } from "./socket.ts"
import { Value } from "./store.ts"
import type { Stop } from "./store.ts"

/** What a kernel answered; `busy` also when it said nothing in time, `none` when it failed or cannot be asked. */
export type LaneAnswer = { readonly kind: "answer"; readonly content: JsonObject } | { readonly kind: "busy" } | { readonly kind: "none" }

const BUSY: LaneAnswer = { kind: "busy" }
const NONE: LaneAnswer = { kind: "none" }

export interface Question {
  readonly code: string
  /** In code points. */
  readonly position: number
  readonly runtime?: string
  readonly detail?: 0 | 1
}

/** A cell that wants to know something. */
export interface Prompt {
  readonly execution: ExecutionId
  readonly prompt: string
  readonly isPassword: boolean
  readonly question: number
}

const ANSWER_MILLISECONDS = 5000
const HEALTH_MILLISECONDS = 30_000

export class Lanes {
  /** What cells ask, by execution. */
  readonly prompts = new Value<ReadonlyMap<ExecutionId, Prompt>>(new Map())
  /** What runtimes last said of themselves. */
  readonly health = new Value<ReadonlyMap<RuntimeId, JsonObject>>(new Map())
  readonly #log: LogId
  readonly #socket: Socket
  readonly #clock: Clock
  readonly #newId: () => string
  readonly #asked = new Map<string, (answer: LaneAnswer) => void>()
  readonly #stops: Stop[] = []
  readonly #listening = new Set<string>()

  constructor(log: LogId, { socket, clock, newId }: { socket: Socket; clock: Clock; newId: () => string }) {
    this.#log = log
    this.#socket = socket
    this.#clock = clock
    this.#newId = newId
  }

  /** Listen for prompts and health. */
  start(): void {
    this.#listen("stdin", (message) => this.#prompted(message))
    this.#listen("health", (message) => this.#told(message))
    // What was said before a break is no longer how it is.
    this.#stops.push(this.#socket.state.subscribe(() => this.#socket.isOpen || !this.health.get().size || this.health.set(new Map())))
  }

  close(): void {
    for (const stop of this.#stops.splice(0)) stop()
  }

  complete(question: Question): Promise<LaneAnswer> {
    return this.#ask("completion", question)
  }

  inspect(question: Question): Promise<LaneAnswer> {
    return this.#ask("inspection", question)
  }

  #ask(lane: string, question: Question): Promise<LaneAnswer> {
    if (!this.#listening.has(lane)) this.#listen(lane, (message) => this.#answered(message))
    const id = this.#newId()
    return new Promise((resolve) => {
      const stopWaiting = this.#clock.after(ANSWER_MILLISECONDS, () => this.#answer(id, BUSY))
      this.#asked.set(id, (answer) => {
        stopWaiting()
        resolve(answer)
      })
      if (!this.#socket.say(this.#log, lane, { kind: "ask", id, ...question })) this.#answer(id, NONE)
    })
  }

  #listen(lane: string, hear: (message: JsonObject) => void): void {
    this.#listening.add(lane)
    const stop = this.#socket.listen(this.#log, lane, (message, by) => {
      if (isFromRuntime(by) && isObject(message)) hear(message)
    })
    this.#stops.push(stop)
  }

  #answered(message: JsonObject): void {
    const { kind, id, content } = message
    if (typeof id !== "string") return
    if (kind === "answer") this.#answer(id, isObject(content) ? { kind, content } : NONE)
    else if (kind === "busy") this.#answer(id, BUSY)
    else if (kind === "failed") this.#answer(id, NONE)
  }

  #answer(id: string, answer: LaneAnswer): void {
    const asked = this.#asked.get(id)
    this.#asked.delete(id)
    asked?.(answer)
  }

  /** The number of the first question is not on the wire: it is the default. */
  #prompted({ kind, execution, prompt, password, question = 1 }: JsonObject): void {
    if (typeof execution !== "string" || typeof question !== "number") return
    const prompts = new Map(this.prompts.get())
    const before = prompts.get(execution)
    if (kind === "asked" && before?.question !== question) {
      prompts.set(execution, { execution, prompt: text(prompt), isPassword: password === true, question })
    } else if (kind === "answered" && before?.question === question) prompts.delete(execution)
    else return
    this.prompts.set(prompts)
  }

  #told(message: JsonObject): void {
    const { kind, runtime } = message
    if (kind !== "health" || typeof runtime !== "string") return
    this.health.set(new Map(this.health.get()).set(runtime, message))
    this.#clock.after(HEALTH_MILLISECONDS, () => {
      if (this.health.get().get(runtime) !== message) return
      const left = new Map(this.health.get())
      left.delete(runtime)
      this.health.set(left)
    })
  }
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function isFromRuntime(actor: ActorId): boolean {
  return actor.startsWith("runtime:")
}

function text(value: Json | undefined): string {
  return typeof value === "string" ? value : ""
}
