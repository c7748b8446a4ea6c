import { expect, test } from "vitest"
import { allowedHosts, isHost } from "./allowed_hosts.ts"

function storage(): Storage {
  const kept = new Map<string, string>()
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  } as unknown as Storage
}

test("a host is allowed for one notebook, and stays so", () => {
  const kept = storage()
  const hosts = allowedHosts(kept, "one")
  let calls = 0
  hosts.subscribe(() => (calls += 1))
  hosts.allow("cdn.example.org")
  hosts.allow("cdn.example.org")
  expect([hosts.get(), calls]).toEqual([["cdn.example.org"], 1])
  expect(allowedHosts(kept, "one").get()).toEqual(["cdn.example.org"])
  expect(allowedHosts(kept, "other").get()).toEqual([])
  hosts.forbid("cdn.example.org")
  expect(allowedHosts(kept, "one").get()).toEqual([])
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
  expect(allowedHosts(kept, "one").get()).toEqual(["cdn.example.org"])
  expect(allowedHosts(kept, "two").get()).toEqual([])
})
