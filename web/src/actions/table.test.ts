/** The table of actions: whole, and no two keys for one thing. */

import { expect, test } from "vitest"

import { GROUPS } from "./context.ts"
import type { Action, ActionContext } from "./context.ts"
import { keyName, KeyMatcher, sequence } from "./keys.ts"
import { action, ACTIONS, Keyboard } from "./table.ts"

const MODES = ["command", "edit"] as const
/** What people's hands know, and where it works. */
const KNOWN: Record<(typeof MODES)[number], string> = {
  command:
    "Enter Shift-Enter Mod-Enter Alt-Enter A B M Y D_D X C V Shift-V Z J K ArrowUp ArrowDown Shift-ArrowUp Shift-ArrowDown " +
    "Alt-ArrowUp Alt-ArrowDown Shift-M O . I_I 0_0 ? Mod-K Mod-Shift-P Esc",
  edit: "Esc Shift-Enter Mod-Enter Alt-Enter Mod-Shift-- Mod-K Mod-Shift-P ArrowUp ArrowDown",
}

function keysOf(mode: (typeof MODES)[number]): string[] {
  return ACTIONS.filter((each) => each.mode === undefined || each.mode === mode).flatMap(({ keys }) => keys)
}

test.each(MODES)("no two actions have the same keys in %s mode, and none begins another", (mode) => {
  const keys = keysOf(mode)
  expect(new Set(keys).size).toBe(keys.length)
  const single = new Set(keys.filter((each) => sequence(each).length === 1))
  for (const each of keys) if (sequence(each).length > 1) expect(single).not.toContain(sequence(each)[0])
})

test.each(MODES)("every key that people know is there in %s mode", (mode) => {
  const missing = KNOWN[mode].split(" ").map((each) => each.replace("_", " ")).filter((each) => !keysOf(mode).includes(each))
  expect(missing).toEqual([])
})

test("every action has a name of its own, a title and a group", () => {
  expect(new Set(ACTIONS.map(({ name }) => name)).size).toBe(ACTIONS.length)
  for (const { title, group } of ACTIONS) {
    expect(title).not.toBe("")
    expect(GROUPS).toContain(group)
  }
})

const press = (key: string, held: Partial<Record<"ctrlKey" | "metaKey" | "altKey" | "shiftKey", boolean>> = {}, code = "") => ({
  key,
  code,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...held,
})

test("a key press has the name that the table writes", () => {
  expect(keyName(press("a"))).toBe("A")
  expect(keyName(press("M", { shiftKey: true }))).toBe("Shift-M")
  expect(keyName(press("?", { shiftKey: true }))).toBe("?")
  expect(keyName(press("_", { ctrlKey: true, shiftKey: true }, "Minus"))).toBe("Mod-Shift--")
  expect(keyName(press("Enter", { metaKey: true }))).toBe("Mod-Enter")
  expect(keyName(press("Escape"))).toBe("Esc")
  expect(keyName(press("Shift", { shiftKey: true }))).toBeNull()
  expect(keyName(press("º", { altKey: true }, "KeyR"))).toBe("Alt-R")
})

test("two keys in a row are one, if the second is the right one", () => {
  const keys = new KeyMatcher<string>([["D D", "remove"], ["A", "above"]])
  expect(keys.match("D")).toEqual({ kind: "begun", keys: "D" })
  expect(keys.match("D", "D")).toEqual({ kind: "action", action: "remove" })
  expect(keys.match("A", "D")).toEqual({ kind: "action", action: "above" })
  expect(keys.match("X", "D")).toEqual({ kind: "none" })
  expect(keys.continuations("D")).toEqual([{ keys: "D", action: "remove" }])
})

test("what was begun is shown, outlives another table of actions, and is given up by Escape", () => {
  const done: string[] = []
  const remove: Action = { ...action("cell.remove"), when: () => true, do: () => void done.push("remove") }
  const leave: Action = { ...action("go.deselect"), when: () => true, do: () => void done.push("leave") }
  const context = {} as ActionContext
  const keyboard = new Keyboard([remove, leave])
  keyboard.handle(press("d"), "command", context)
  expect(keyboard.begun.get()).toEqual({ keys: "D", next: [{ keys: "D", action: remove }] })
  keyboard.setActions([remove, leave])
  keyboard.handle(press("Shift"), "command", context)
  keyboard.handle(press("d"), "command", context)
  expect([done, keyboard.begun.get()]).toEqual([["remove"], null])
  keyboard.handle(press("d"), "command", context)
  expect(keyboard.handle(press("Escape"), "command", context)).toBe(true)
  expect([done, keyboard.begun.get()]).toEqual([["remove"], null])
})

test("of two rows with the same keys the first has them", () => {
  const [one] = ACTIONS
  if (!one) throw new Error("There are no actions.")
  const keyboard = new Keyboard([one, { ...one, name: "other" }])
  expect(keyboard.press(press("Enter"), "command")).toEqual({ kind: "action", action: one })
})
