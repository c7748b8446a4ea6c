import { expect, test } from "vitest"
import { HostPermissions, hostPermissions, isHost } from "./allowed_hosts.ts"
import type { KeyValueStorage } from "./locks.ts"

function storage(): KeyValueStorage {
  const kept = new Map<string, string>()
  return {
    get length() {
      return kept.size
    },
    key: (index: number) => [...kept.keys()][index] ?? null,
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  }
}

test("a host is allowed for one notebook, and stays so", () => {
  const kept = storage()
  const hosts = hostPermissions(kept).of("one")
  let calls = 0
  hosts.subscribe(() => (calls += 1))
  hosts.allow("cdn.example.org")
  hosts.allow("cdn.example.org")
  expect([hosts.get(), calls]).toEqual([["cdn.example.org"], 1])
  const later = new HostPermissions(kept)
  expect(later.of("one").get()).toEqual(["cdn.example.org"])
  expect(later.of("other").get()).toEqual([])
})

test("a host that is withdrawn on one page is withdrawn on all, and from storage", () => {
  const kept = storage()
  const hosts = hostPermissions(kept).of("one")
  hosts.allow("cdn.example.org")
  hosts.allow("tiles.example.org")
  expect([...hostPermissions(kept).all.get()]).toEqual([["one", ["cdn.example.org", "tiles.example.org"]]])
  hostPermissions(kept).of("one").withdraw("cdn.example.org")
  expect(hosts.get()).toEqual(["tiles.example.org"])
  hosts.withdraw("tiles.example.org")
  expect([hostPermissions(kept).all.get().size, kept.length, new HostPermissions(kept).all.get().size]).toEqual([0, 0, 0])
})

test("what another window withdraws is withdrawn here, and other notebooks stay as they are", () => {
  const kept = storage()
  const [here, there] = [new HostPermissions(kept), new HostPermissions(kept)]
  const events = new EventTarget()
  here.follow(events)
  const tell = (key: string | null): void => void events.dispatchEvent(Object.assign(new Event("storage"), { key }))
  for (const log of ["one", "two"]) {
    there.of(log).allow("cdn.example.org")
    tell(`quire-hosts:${log}`)
  }
  const other = here.of("two").get()
  there.of("one").withdraw("cdn.example.org")
  tell("quire-hosts:one")
  expect([here.of("one").get(), here.of("two").get() === other]).toEqual([[], true])
  kept.removeItem("quire-hosts:two")
  tell(null)
  expect(here.all.get().size).toBe(0)
})

test("only names of hosts can be allowed", () => {
  expect(["cdn.plot.ly", "a-b.example.co"].every(isHost)).toBe(true)
  const others = ["*", "*.example.org", "localhost", "127.0.0.1", "example.org/x", "example.org;", "https://example.org", "", "a..b"]
  expect(others.filter(isHost)).toEqual([])
})

test("what is broken in storage opens nothing", () => {
  const kept = storage()
  kept.setItem("quire-hosts:one", '["*", 5, "cdn.example.org"]')
  kept.setItem("quire-hosts:two", "{")
  expect([...new HostPermissions(kept).all.get()]).toEqual([["one", ["cdn.example.org"]]])
})
