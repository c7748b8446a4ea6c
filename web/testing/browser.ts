/** A browser with several windows on one notebook: one storage, locks, and the stand-in server. */

import { writeNotebook } from "../src/core/notebook.ts"
import { Api } from "../src/sync/api.ts"
import type { WindowLocks } from "../src/sync/locks.ts"
import { openNotebook } from "../src/sync/open.ts"
import type { OpenNotebook } from "../src/sync/open.ts"
import { Socket } from "../src/sync/socket.ts"
import { FakeClock } from "./fake_clock.ts"
import { MemoryLocks, MemorySnapshots, MemoryStorage } from "./memory_browser.ts"
import { Line, LOG, StandInServer } from "./stand_in_server.ts"

/** A browser with its storage, and the server that it talks to unless that is away. */
export class Browser {
  readonly server = new StandInServer()
  readonly storage = new MemoryStorage()
  readonly snapshots = new MemorySnapshots()
  readonly clock = new FakeClock()
  readonly locks: WindowLocks
  isAway = false
  /** Why the server reads nothing, though it answers. */
  outage: string | null = null
  windows = 0
  #ids = 0

  constructor(locks: WindowLocks = new MemoryLocks()) {
    this.locks = locks
    this.server.submit("human:ada", [
      { id: "begin", event: { type: "notebook_created", name: "n" } },
      { id: "a", event: { type: "cell_added", cell: "a", after: null, source: "x = 1" } },
      { id: "b", event: { type: "cell_added", cell: "b", after: "a", source: "y = 2" } },
    ])
  }

  async open(): Promise<Tab> {
    const tab = new Tab(this)
    tab.notebook = await openNotebook(LOG, {
      api: new Api((path) => this.#answer(path)),
      socket: tab.socket,
      clock: this.clock,
      storage: this.storage,
      locks: this.locks,
      snapshots: this.snapshots,
      window: tab.name,
      newId: () => `id-${(this.#ids += 1)}`,
    })
    await tab.settle()
    return tab
  }

  #answer(path: string): Promise<Response> {
    if (this.isAway) return Promise.reject(new Error("offline"))
    if (this.outage !== null) {
      const error = { kind: "Unavailable", message: this.outage }
      return Promise.resolve(new Response(JSON.stringify({ error }), { status: 503 }))
    }
    const url = new URL(path, "http://quire")
    if (url.pathname === "/api/me") return answer({ actor: "human:ada", scopes: ["edit"] })
    if (url.pathname.startsWith("/api/notebooks/")) return answer(writeNotebook(this.server.notebook))
    const [since, until] = ["since", "until"].map((name) => Number(url.searchParams.get(name)))
    return answer({ entries: this.server.log.slice(since, until) })
  }
}

function answer(body: unknown): Promise<Response> {
  return Promise.resolve(new Response(JSON.stringify(body)))
}

export class Tab {
  readonly name: string
  readonly socket: Socket
  readonly browser: Browser
  notebook!: OpenNotebook
  line: Line | null = null

  constructor(browser: Browser) {
    this.browser = browser
    this.name = `window-${(browser.windows += 1)}`
    this.socket = new Socket({
      connect: () => {
        const line = new Line(browser.server, "human:ada")
        if (browser.isAway) queueMicrotask(() => line.break())
        return (this.line = line)
      },
      clock: browser.clock,
      random: () => 0.5,
    })
    this.socket.start()
  }

  get text(): string | undefined {
    return this.notebook.live.store.cell("a")?.source
  }

  /** Let what is under way arrive, also what comes of that. */
  async settle(): Promise<void> {
    for (let round = 0; round < 20; round += 1) {
      await new Promise((resolve) => setImmediate(resolve))
      while (this.line?.serve() || this.line?.publish() || this.line?.deliver());
    }
  }

  /** The connection is lost. */
  disconnect(): void {
    this.line?.break()
  }

  /** The window is closed, as a killed one is: nothing more is written or sent, and its locks are free. */
  kill(): void {
    this.line?.close()
    this.socket.close()
    this.notebook.close()
  }

  /** Send what was typed, and let it arrive. */
  async flush(): Promise<void> {
    this.notebook.live.flush()
    await this.settle()
  }
}
