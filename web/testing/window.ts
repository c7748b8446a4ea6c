/** One window of a browser in a test, on the stand-in server: what happens to its connection is up to the test. */

import { emptyNotebook, writeNotebook } from "../src/core/notebook.ts"
import type { ActorId } from "../src/core/types.gen.ts"
import { Live } from "../src/sync/live.ts"
import type { Journal } from "../src/sync/live.ts"
import { Socket } from "../src/sync/socket.ts"
import { FakeClock } from "./fake_clock.ts"
import { Person } from "./person.ts"
import type { Random } from "./random.ts"
import { Line, LOG } from "./stand_in_server.ts"
import type { StandInServer } from "./stand_in_server.ts"

export class TestWindow {
  readonly name: ActorId
  readonly clock = new FakeClock()
  readonly socket: Socket
  readonly live: Live
  readonly person: Person
  /** What is in storage. */
  journal: Journal | null = null
  line: Line | null = null
  #ids = 0
  readonly #random: Random

  constructor(name: ActorId, server: StandInServer, random: Random) {
    this.name = name
    this.#random = random
    const connect = (): Line => (this.line = new Line(server, name))
    const newId = (): string => `${name}-${(this.#ids += 1)}`
    this.socket = new Socket({ connect, clock: this.clock, random: random.next })
    this.live = new Live(emptyNotebook(), {
      log: LOG,
      me: { actor: name, scopes: ["edit"] },
      socket: this.socket,
      clock: this.clock,
      newId,
      keep: (journal) => void (this.journal = journal),
      reload: () => {
        throw new Error("The entries do not fit.")
      },
    })
    this.person = new Person(this.live, random, newId)
    this.socket.start()
    this.live.follow()
    while (this.drain());
  }

  /** Let one thing happen that has to do with the connection. */
  step(): void {
    const random = this.#random
    const { line } = this
    const happen = random.pick<() => unknown>([
      () => line?.serve(),
      () => line?.serve(),
      () => line?.publish(),
      () => line?.deliver(),
      () => line?.deliver(),
      () => this.clock.advance(random.pick([10, 60, 400, 3000])),
      () => (random.chance(0.1) ? line?.break() : undefined),
      () => (random.chance(0.3) ? this.live.flush() : undefined),
    ])
    happen()
  }

  /** Let everything arrive. Returns whether anything did. */
  drain(): boolean {
    let isBusy = false
    for (const happen of [() => this.line?.serve(), () => this.line?.publish(), () => this.line?.deliver()]) {
      while (happen()) isBusy = true
    }
    return isBusy
  }

  shown(): unknown {
    return writeNotebook(this.live.store.get())
  }
}
