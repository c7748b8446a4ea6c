/** One connection, made again: from where its followers are, later after each failure. And what is said on lanes. */

import { expect, test } from "vitest"

import type { Json } from "../core/types.gen.ts"
import { FakeClock } from "../../testing/fake_clock.ts"
import { ServerClock, writeTime } from "./clock.ts"
import type { FromServer, ToServer } from "./frames.ts"
import { Lanes } from "./lanes.ts"
import { MOVE_MILLISECONDS, Presence } from "./presence.ts"
import { Socket } from "./socket.ts"
import type { Answer, Connection } from "./socket.ts"

/** The other end, by hand. */
class Server {
  readonly clock = new FakeClock()
  readonly heard: ToServer[] = []
  connects = 0
  line: Connection | null = null
  readonly socket = new Socket({ connect: () => this.#connect(), clock: this.clock, random: () => 1 })

  #connect(): Connection {
    this.connects += 1
    this.heard.length = 0
    const line: Connection = {
      onmessage: null,
      onclose: null,
      send: (text) => void this.heard.push(JSON.parse(text) as ToServer),
      close: () => undefined,
    }
    return (this.line = line)
  }

  say(frame: FromServer): void {
    this.line?.onmessage?.({ data: JSON.stringify(frame) })
  }

  greet(): void {
    this.say({ type: "welcome", me: { actor: "human:ada", scopes: [] }, version: "0", tick_milliseconds: 20 })
  }

  close(code: number, reason = ""): void {
    this.line?.onclose?.({ code, reason })
  }

  /** What was said on a lane, to whoever listens. */
  saidOn(lane: string, message: Json, by: string): void {
    for (const frame of this.heard) {
      if (frame.type === "listen" && frame.lane === lane) this.say({ type: "said", id: frame.id, by, message })
    }
  }

  /** The last thing that this window said on a lane. */
  get lastSaid(): Json {
    return this.heard.flatMap((frame) => (frame.type === "say" ? [frame.message] : [])).at(-1) ?? null
  }
}

test("it waits longer after each failure, and no longer than half a minute", () => {
  const server = new Server()
  server.socket.start()
  const waits = Array.from({ length: 9 }, () => {
    server.close(1006)
    const state = server.socket.state.get()
    const wait = state.kind === "waiting" ? state.until - server.clock.now() : 0
    server.clock.advance(wait)
    return wait
  })
  expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000])
  expect(server.connects).toBe(10)
  server.greet()
  server.close(1012)
  server.clock.advance(500)
  expect(server.connects).toBe(11)
  server.close(1006)
  server.socket.retry()
  expect(server.connects).toBe(12)
})

test("a token that is good for nothing any more is not tried again", () => {
  const server = new Server()
  server.socket.start()
  server.greet()
  server.close(4401, "The token was revoked.")
  expect(server.socket.state.get()).toEqual({ kind: "signed_out", reason: "The token was revoked." })
  server.clock.advance(100_000)
  expect(server.connects).toBe(1)
})

test("a follower is asked where it is, each time anew; ids are not used twice", () => {
  const server = new Server()
  let since = 0
  const stop = server.socket.follow("n", {
    since: () => since,
    take: (entries) => void (since += entries.length),
    failed: () => undefined,
  })
  server.socket.start()
  expect(server.heard).toEqual([])
  server.greet()
  expect(server.heard).toEqual([{ type: "follow", id: "1", log: "n", since: 0 }])
  const entry = { log: "n", seq: 1, id: "e", at: "", actor: "human:ada", event: { type: "notebook_created", name: "" } } as const
  server.say({ type: "events", id: "1", entries: [entry], head: 1 })
  server.close(1006)
  server.clock.advance(60_000)
  server.greet()
  expect(server.heard).toEqual([{ type: "follow", id: "2", log: "n", since: 1 }])
  stop()
  expect(server.heard.at(-1)).toEqual({ type: "stop", id: "2" })
})

test("a submission is answered once: recorded, failed, or lost with the line", () => {
  const server = new Server()
  server.socket.start()
  const answers: Answer["kind"][] = []
  const submit = (): void => server.socket.submit("n", [], (answer) => answers.push(answer.kind))
  submit()
  expect(answers).toEqual(["lost"])
  server.greet()
  submit()
  submit()
  submit()
  const ids = server.heard.flatMap((frame) => (frame.type === "submit" ? [frame.id] : []))
  server.say({ type: "recorded", id: ids[0] ?? "", entries: [] })
  server.say({ type: "failed", id: ids[1] ?? "", error: { kind: "Refused", message: "no" } })
  server.close(1006)
  expect(answers).toEqual(["lost", "recorded", "failed", "lost"])
})

test("the feed goes on from the position that was told", () => {
  const server = new Server()
  server.socket.feed(() => undefined)
  server.socket.start()
  server.greet()
  expect(server.heard).toEqual([{ type: "feed", id: "1" }])
  server.say({ type: "grown", id: "1", growth: [], position: 7 })
  server.close(1006)
  server.clock.advance(60_000)
  server.greet()
  expect(server.heard).toEqual([{ type: "feed", id: "2", since: 7 }])
})

test("a kernel's answer is that of a runtime; one that says nothing in time is busy", async () => {
  const server = new Server()
  const lanes = new Lanes("n", { socket: server.socket, clock: server.clock, newId: () => "q" })
  server.socket.start()
  server.greet()
  const answered = lanes.complete({ code: "pri", position: 3 })
  expect(server.lastSaid).toEqual({ kind: "ask", id: "q", code: "pri", position: 3 })
  server.saidOn("completion", { kind: "answer", id: "q", content: { matches: ["forged"] } }, "human:bob")
  server.saidOn("completion", { kind: "answer", id: "q", content: { matches: ["print"] } }, "runtime:local")
  expect(await answered).toEqual({ kind: "answer", content: { matches: ["print"] } })
  for (const kind of ["busy", "failed"]) {
    const refused = lanes.complete({ code: "pri", position: 3 })
    server.saidOn("completion", { kind, id: "q" }, "runtime:local")
    expect(await refused).toEqual({ kind: kind === "busy" ? "busy" : "none" })
  }
  const unanswered = lanes.inspect({ code: "x", position: 1 })
  server.clock.advance(5000)
  expect(await unanswered).toEqual({ kind: "busy" })
})

test("what a cell asks is there until it is answered, and a runtime's health for half a minute", () => {
  const server = new Server()
  const lanes = new Lanes("n", { socket: server.socket, clock: server.clock, newId: () => "q" })
  lanes.start()
  server.socket.start()
  server.greet()
  const asked = { kind: "asked", execution: "x", prompt: "Month?", question: 1 }
  server.saidOn("stdin", asked, "runtime:local")
  const before = lanes.prompts.get()
  server.saidOn("stdin", asked, "runtime:local")
  expect(lanes.prompts.get()).toBe(before)
  expect(before.get("x")).toEqual({ execution: "x", prompt: "Month?", isPassword: false, question: 1 })
  server.saidOn("stdin", { kind: "answered", execution: "x", question: 1 }, "runtime:local")
  expect(lanes.prompts.get().size).toBe(0)
  server.saidOn("health", { kind: "health", runtime: "r", state: "idle" }, "runtime:local")
  expect(lanes.health.get().get("r")).toMatchObject({ state: "idle" })
  server.clock.advance(30_000)
  expect(lanes.health.get().size).toBe(0)
  server.saidOn("health", { kind: "health", runtime: "r", state: "idle" }, "runtime:local")
  server.close(1006)
  expect(lanes.health.get().size).toBe(0)
})

test("windows hear of each other: who comes, goes elsewhere or leaves, and anew after a break", () => {
  const server = new Server()
  const presence = new Presence("n", { socket: server.socket, clock: server.clock, window: "w1" })
  presence.start()
  server.socket.start()
  server.greet()
  expect(server.lastSaid).toEqual({ kind: "here", window: "w1", cell: null, selection: null, doing: "reading" })
  presence.setDoing("editing")
  server.clock.advance(MOVE_MILLISECONDS)
  presence.move("a", { from: 1, to: 2, seq: 5 })
  expect(server.lastSaid).toEqual({ kind: "here", window: "w1", cell: "a", selection: { from: 1, to: 2, seq: 5 }, doing: "editing" })
  presence.move("b")
  presence.move("c")
  expect(server.lastSaid).toMatchObject({ cell: "a" })
  server.clock.advance(MOVE_MILLISECONDS)
  expect(server.lastSaid).toMatchObject({ cell: "c" })
  server.saidOn("presence", { kind: "here", window: "w2", cell: "a", selection: null }, "human:bob")
  server.saidOn("presence", { kind: "here", window: "w3" }, "human:eve")
  server.saidOn("presence", { kind: "here", window: "w1", cell: "z" }, "human:ada")
  expect(presence.others.get().map(({ actor, cell }) => [actor, cell])).toEqual([["human:bob", "a"], ["human:eve", null]])
  expect(presence.isShared("a")).toBe(true)
  server.saidOn("presence", { kind: "gone", window: "w2" }, "human:bob")
  expect(presence.isShared("a")).toBe(false)
  const agent = { window: "mcp:agent:codex", doing: "editing", on_behalf_of: "human:ada" }
  server.saidOn("presence", { kind: "here", cell: "a", ...agent }, "agent:codex")
  expect(presence.others.get().at(-1)).toMatchObject({ actor: "agent:codex", doing: "editing", onBehalfOf: "human:ada" })
  expect(presence.isShared("a"), "nobody types in an agent's cell").toBe(false)
  server.saidOn("presence", { kind: "here", cell: "a", ...agent, doing: "dancing" }, "agent:codex")
  expect(presence.others.get().at(-1)?.doing).toBe(null)
  server.saidOn("presence", { kind: "gone", window: agent.window }, "agent:codex")
  server.close(1006)
  expect(presence.others.get()).toHaveLength(1)
  server.clock.advance(60_000)
  server.greet()
  expect(presence.others.get()).toEqual([])
  expect(server.lastSaid).toMatchObject({ kind: "here", cell: "c" })
  presence.close()
  expect(server.lastSaid).toEqual({ kind: "gone", window: "w1" })
})

test("how long ago something was recorded is told by the server's clock", () => {
  const clock = new FakeClock()
  const server = new ServerClock(clock)
  server.set(writeTime(clock.now() + 3_600_000))
  clock.advance(5000)
  expect(server.since(writeTime(clock.now() + 3_600_000 - 2000))).toBe(2000)
  expect(server.since(writeTime(clock.now() + 9_000_000))).toBe(0)
})
