/**
 * Several windows on notebooks of a real server: they type, add, move and remove cells, and lose their connections. In the
 * end all of them have to show what `GET /api/notebooks/{log}` says.
 *
 * Reads {"url", "tokens", "seeds"} from stdin; prints a line for each seed and ends with 1 if one came out otherwise.
 */

import { readFileSync } from "node:fs"

import { canonical, writeNotebook } from "../src/core/notebook.ts"
import { Api } from "../src/sync/api.ts"
import { newId } from "../src/sync/browser.ts"
import type { Clock } from "../src/sync/clock.ts"
import { openNotebook } from "../src/sync/open.ts"
import type { OpenNotebook } from "../src/sync/open.ts"
import { Socket } from "../src/sync/socket.ts"
import type { Connection } from "../src/sync/socket.ts"
import { MemoryLocks, MemorySnapshots, MemoryStorage } from "../testing/memory_browser.ts"
import { Person } from "../testing/person.ts"
import { Random } from "../testing/random.ts"

interface Task {
  readonly url: string
  readonly tokens: readonly string[]
  readonly seeds: readonly number[]
}

const AT_ONCE = 6
const DEADLINE_MILLISECONDS = 120_000
/** Pauses are a tenth of what they are for people: 300 interleavings are to end today. */
const HURRY = 10
const hurried: Clock = {
  now: () => Date.now() * HURRY,
  after: (milliseconds, then) => {
    const timer = setTimeout(then, milliseconds / HURRY)
    return () => clearTimeout(timer)
  },
}

const task = JSON.parse(readFileSync(0, "utf-8")) as Task

class Client {
  readonly socket: Socket
  readonly api: Api
  readonly storage = new MemoryStorage()
  notebook!: OpenNotebook
  person!: Person
  #line: WebSocket | null = null

  constructor(token: string, random: Random) {
    const headers = { Authorization: `Bearer ${token}` }
    const url = `${task.url.replace("http", "ws")}/api/socket`
    const connect = (): Connection => {
      // Node's own takes headers beside what browsers know.
      this.#line = new WebSocket(url, { headers } as never)
      return this.#line as unknown as Connection
    }
    this.socket = new Socket({ connect, clock: hurried, random: random.next })
    this.api = new Api((path, init) => fetchAgain(task.url + path, { ...init, headers }))
    this.socket.start()
  }

  static async open(log: string, token: string, random: Random): Promise<Client> {
    const client = new Client(token, random)
    const { api, socket, storage } = client
    const parts = { api, socket, clock: hurried, storage, locks: new MemoryLocks(), snapshots: new MemorySnapshots() }
    client.notebook = await openNotebook(log, { ...parts, window: newId(), newId })
    client.person = new Person(client.notebook.live, random, newId)
    return client
  }

  /** The line breaks, with whatever is under way on it. */
  break(): void {
    const line = this.#line
    if (line?.readyState !== WebSocket.OPEN) return
    const { onclose } = line
    line.onmessage = null
    line.onclose = null
    line.close()
    onclose?.call(line, { code: 1006, reason: "" } as CloseEvent)
  }

  close(): void {
    this.notebook.close()
    this.socket.close()
  }
}

/** Browsers ask again by themselves when the server has just closed a connection that they kept; Node does not. */
async function fetchAgain(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch {
    return fetch(url, init)
  }
}

async function createNotebook(token: string, name: string): Promise<string> {
  const response = await fetchAgain(`${task.url}/api/logs/${newLog(name)}/events`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify({
      drafts: [
        { id: newId(), event: { type: "notebook_created", name } },
        { id: newId(), event: { type: "cell_added", cell: "a", after: null, source: "x = 1\r\n🦊" } },
        { id: newId(), event: { type: "cell_added", cell: "b", after: "a" } },
      ],
    }),
  })
  if (!response.ok) throw new Error(await response.text())
  return newLog(name)
}

function newLog(name: string): string {
  return `log-${name}`
}

async function play(seed: number): Promise<string | null> {
  const random = new Random(seed)
  const log = await createNotebook(task.tokens[0] ?? "", `n${seed}`)
  const tokens = Array.from({ length: 2 + (seed % 2) }, (_, index) => task.tokens[index % task.tokens.length] ?? "")
  const clients = await Promise.all(tokens.map((token) => Client.open(log, token, random)))
  for (let step = random.integer(10, 40); step > 0; step -= 1) {
    const client = random.pick(clients)
    if (random.chance(0.6)) client.person.move()
    else if (random.chance(0.15)) client.break()
    else if (random.chance(0.2)) client.person.live.flush()
    else await new Promise((resolve) => setTimeout(resolve, random.pick([0, 1, 5, 20])))
    const faults = clients.flatMap(({ person }) => person.faults())
    if (faults.length) return `an editor shows otherwise: ${faults.join(", ")}`
  }
  const fault = await compare(log, clients)
  for (const client of clients) client.close()
  return fault
}

/** Wait until nothing is under way, and compare. */
async function compare(log: string, clients: readonly Client[]): Promise<string | null> {
  const deadline = Date.now() + DEADLINE_MILLISECONDS
  for (;;) {
    for (const { notebook } of clients) notebook.live.flush()
    await new Promise((resolve) => setTimeout(resolve, 5))
    if (Date.now() > deadline) return `it does not come to rest: ${clients.map(describe).join("; ")}`
    if (clients.some(({ notebook }) => notebook.live.isWaiting)) continue
    const truth = await clients[0]?.api.notebook(log)
    if (!truth || clients.some(({ notebook }) => notebook.live.isWaiting || notebook.live.seq !== truth.seq)) continue
    const [expected, ...shown] = [truth, ...clients.map(({ notebook }) => notebook.live.store.get())].map((each) =>
      JSON.stringify(canonical(writeNotebook(each))),
    )
    const other = shown.find((each) => each !== expected)
    if (other !== undefined) return `shown: ${other}\n  server: ${expected ?? ""}`
    const faults = clients.flatMap(({ person }) => person.faults())
    if (faults.length) return `an editor shows otherwise: ${faults.join(", ")}`
    const kept = clients.flatMap(({ storage }) => [...storage.items.keys()])
    return kept.length ? `something is still kept: ${kept.join(", ")}` : null
  }
}

function describe({ notebook, socket }: Client): string {
  return JSON.stringify([socket.state.get(), notebook.state.get(), notebook.live.seq, notebook.live.journal()])
}

let failures = 0
const waiting = [...task.seeds]
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (let seed = waiting.shift(); seed !== undefined; seed = waiting.shift()) {
      const fault = await play(seed)
      if (fault !== null) failures += 1
      console.log(`${seed}: ${fault ?? "the same"}`)
    }
  }),
)
process.exit(failures ? 1 : 0)
