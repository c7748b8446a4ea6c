/**
 * The hosts that a person allowed the outputs of one notebook to load from.
 *
 * Kept in this browser alone. A notebook's metadata can come from a file or from an agent, so it must not open anything.
 */

import type { LogId } from "../core/types.gen.ts"
import { Value } from "./store.ts"
import type { Stop } from "./store.ts"

export interface AllowedHosts {
  get(): readonly string[]
  allow(host: string): void
  forbid(host: string): void
  subscribe(listener: () => void): Stop
}

/** As many as the server takes in the address of a frame. */
const MOST = 20
const HOST = /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/

/** Whether it is the name of a host that can be allowed: of the web, not of this machine or its network. */
export function isHost(name: string): boolean {
  return HOST.test(name)
}

/** What this browser keeps for a notebook. */
export function allowedHosts(storage: Pick<Storage, "getItem" | "setItem" | "removeItem">, log: LogId): AllowedHosts {
  const key = `quire-hosts:${log}`
  const value = new Value<readonly string[]>(read(storage.getItem(key)))
  const keep = (hosts: readonly string[]): void => {
    value.set(hosts)
    if (hosts.length) storage.setItem(key, JSON.stringify(hosts))
    else storage.removeItem(key)
  }
  return {
    get: value.get,
    subscribe: value.subscribe,
    allow: (host) => {
      if (isHost(host) && !value.get().includes(host)) keep([...value.get(), host].slice(-MOST))
    },
    forbid: (host) => keep(value.get().filter((each) => each !== host)),
  }
}

function read(text: string | null): readonly string[] {
  try {
    const hosts: unknown = JSON.parse(text ?? "[]")
    return Array.isArray(hosts) ? hosts.filter((each): each is string => typeof each === "string" && isHost(each)).slice(0, MOST) : []
  } catch {
    return []
  }
}
