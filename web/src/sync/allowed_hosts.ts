/**
 * The hosts that a person allowed the outputs of a notebook to load from.
 *
 * Kept in this browser alone. A notebook's metadata can come from a file or from an agent, so it must not open anything.
 */

import type { LogId } from "../core/types.gen.ts"
import type { KeyValueStorage } from "./locks.ts"
import { Value } from "./store.ts"
import type { Stop } from "./store.ts"

/** The hosts of one notebook. */
export interface AllowedHosts {
  get(): readonly string[]
  allow(host: string): void
  withdraw(host: string): void
  subscribe(listener: () => void): Stop
}

/** As many as the server takes in the address of a frame. */
const MOST = 20
const HOST = /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/
const PREFIX = "quire-hosts:"
const NONE: readonly string[] = []

/** Whether it is the name of a host that can be allowed: of the web, not of this machine or its network. */
export function isHost(name: string): boolean {
  return HOST.test(name)
}

/** The hosts of all notebooks. There is one of them for a storage, so that what is withdrawn on one page holds on all. */
export class HostPermissions {
  /** By notebook; one without hosts is not in it. */
  readonly all: Value<ReadonlyMap<LogId, readonly string[]>>
  readonly #storage: KeyValueStorage

  constructor(storage: KeyValueStorage) {
    this.#storage = storage
    this.all = new Value(this.#readAll())
  }

  of(log: LogId): AllowedHosts {
    const get = (): readonly string[] => this.all.get().get(log) ?? NONE
    return {
      get,
      subscribe: this.all.subscribe,
      allow: (host) => {
        if (isHost(host) && !get().includes(host)) this.#keep(log, [...get(), host].slice(-MOST))
      },
      withdraw: (host) => this.#keep(log, get().filter((each) => each !== host)),
    }
  }

  /** Follow what is allowed and withdrawn in other windows of this browser. */
  follow(events: Pick<EventTarget, "addEventListener" | "removeEventListener">): Stop {
    const hear = (event: Event): void => {
      const { key } = event as StorageEvent
      if (key === null) this.all.set(this.#readAll())
      else if (key.startsWith(PREFIX)) this.#show(key.slice(PREFIX.length), read(this.#storage.getItem(key)))
    }
    events.addEventListener("storage", hear)
    return () => events.removeEventListener("storage", hear)
  }

  #keep(log: LogId, hosts: readonly string[]): void {
    this.#show(log, hosts)
    if (hosts.length) this.#storage.setItem(PREFIX + log, JSON.stringify(hosts))
    else this.#storage.removeItem(PREFIX + log)
  }

  #show(log: LogId, hosts: readonly string[]): void {
    const all = new Map(this.all.get())
    if (hosts.length) all.set(log, hosts)
    else all.delete(log)
    this.all.set(all)
  }

  #readAll(): ReadonlyMap<LogId, readonly string[]> {
    const keys = Array.from({ length: this.#storage.length }, (_, index) => this.#storage.key(index) ?? "")
    const logs = keys.filter((key) => key.startsWith(PREFIX)).map((key) => key.slice(PREFIX.length))
    const all = logs.map((log) => [log, read(this.#storage.getItem(PREFIX + log))] as const)
    return new Map(all.filter(([, hosts]) => hosts.length > 0))
  }
}

const shared = new WeakMap<KeyValueStorage, HostPermissions>()

/** What this browser keeps. */
export function hostPermissions(storage: KeyValueStorage): HostPermissions {
  const known = shared.get(storage) ?? new HostPermissions(storage)
  shared.set(storage, known)
  return known
}

function read(text: string | null): readonly string[] {
  try {
    const hosts: unknown = JSON.parse(text ?? "[]")
    return Array.isArray(hosts) ? hosts.filter((each): each is string => typeof each === "string" && isHost(each)).slice(0, MOST) : NONE
  } catch {
    return NONE
  }
}
