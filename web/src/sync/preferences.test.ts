import { expect, test } from "vitest"

import { Preferences } from "./preferences.ts"
import { readFragment } from "./sign_in.ts"

class MemoryStorage {
  readonly items = new Map<string, string>()
  getItem = (key: string): string | null => this.items.get(key) ?? null
  setItem = (key: string, value: string): void => void this.items.set(key, value)
  removeItem = (key: string): void => void this.items.delete(key)
}

test("a theme is kept for the next window, and the system's is kept as none", () => {
  const storage = new MemoryStorage()
  new Preferences(storage).setTheme("dark")
  expect(new Preferences(storage).theme.get()).toBe("dark")
  new Preferences(storage).setTheme("system")
  expect(storage.items.size).toBe(0)
})

test("what is no theme is the system's", () => {
  const storage = new MemoryStorage()
  storage.setItem("quire-theme", "purple")
  expect(new Preferences(storage).theme.get()).toBe("system")
})

test("another window's choice is followed", () => {
  const storage = new MemoryStorage()
  const events = new EventTarget()
  const preferences = new Preferences(storage)
  const stop = preferences.follow(events)
  storage.setItem("quire-theme", "light")
  events.dispatchEvent(Object.assign(new Event("storage"), { key: "quire-theme" }))
  expect(preferences.theme.get()).toBe("light")
  stop()
})

test("the fragment of an address says who signs in, and which notebook is shown", () => {
  expect(readFragment("#sign-in=quire_a%2Bb&notebook=01J")).toEqual({ token: "quire_a+b", notebook: "01J" })
  expect(readFragment("#notebook=01J")).toBeNull()
  expect(readFragment("")).toBeNull()
})
