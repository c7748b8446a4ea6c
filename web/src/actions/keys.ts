/**
 * Keys as they are written in the table of actions: `Mod-Shift--`, `Shift-M`, `D D` for one after the other.
 *
 * `Mod` is Ctrl, and Command on a Mac. A letter is what is typed, so that keys are where people's keyboards have them;
 * signs are written as they are: `?`, `.`, `0`.
 */

/** What is used of a KeyboardEvent. */
export interface KeyPress {
  readonly key: string
  readonly code: string
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  readonly altKey: boolean
  readonly shiftKey: boolean
}

const NAMES: Readonly<Record<string, string>> = { Escape: "Esc", " ": "Space" }
const MODIFIERS = new Set(["Control", "Shift", "Alt", "Meta", "AltGraph", "CapsLock", "Dead", "Unidentified", "Process"])

/** The pressed key as the table writes it; null for a modifier alone. */
export function keyName(press: KeyPress): string | null {
  if (MODIFIERS.has(press.key)) return null
  const isMod = press.ctrlKey || press.metaKey
  const key = baseKey(press)
  // Shift is part of a sign: `?` is Shift and something else, which depends on the keyboard.
  const isSign = key.length === 1 && key.toUpperCase() === key.toLowerCase() && !isMod
  const parts = [isMod && "Mod", press.altKey && "Alt", press.shiftKey && !isSign && "Shift", key]
  return parts.filter(Boolean).join("-")
}

function baseKey({ key, code, ctrlKey, metaKey, altKey }: KeyPress): string {
  if ((ctrlKey || metaKey) && (code === "Minus" || key === "-" || key === "_")) return "-"
  // With Alt, a Mac types another character: the place of the key says which is meant.
  if (altKey && /^Key[A-Z]$/.test(code)) return code.slice(3)
  if (altKey && code === "BracketLeft") return "["
  if (altKey && code === "BracketRight") return "]"
  const named = NAMES[key]
  if (named !== undefined) return named
  return key.length === 1 ? key.toUpperCase() : key
}

/** The keys of a sequence. */
export function sequence(keys: string): string[] {
  return keys.split(" ")
}

export type Matched<A> =
  | { readonly kind: "action"; readonly action: A }
  /** The key begins a sequence, or goes on with it. */
  | { readonly kind: "begun"; readonly keys: string }
  | { readonly kind: "none" }

/** Finds the action for the keys that were pressed, also for two in a row. */
export class KeyMatcher<A> {
  readonly #table = new Map<string, A>()
  readonly #beginnings = new Set<string>()

  constructor(bindings: Iterable<readonly [keys: string, action: A]>) {
    for (const [keys, action] of bindings) {
      if (this.#table.has(keys)) throw new Error(`Two actions have the keys ${keys}.`)
      this.#table.set(keys, action)
      const first = sequence(keys).slice(0, -1).join(" ")
      if (first) this.#beginnings.add(first)
    }
  }

  /** What a key says after the keys of a sequence that was begun. A key that does not go on with it is read by itself. */
  match(key: string, begun: string | null = null): Matched<A> {
    const candidates = begun === null ? [key] : [`${begun} ${key}`, key]
    for (const keys of candidates) {
      const action = this.#table.get(keys)
      if (action !== undefined) return { kind: "action", action }
      if (this.#beginnings.has(keys)) return { kind: "begun", keys }
    }
    return { kind: "none" }
  }

  /** The actions that a sequence leads to, with the keys that are left to press. */
  continuations(begun: string): { readonly keys: string; readonly action: A }[] {
    const found = [...this.#table].filter(([keys]) => keys.startsWith(`${begun} `))
    return found.map(([keys, action]) => ({ keys: keys.slice(begun.length + 1), action }))
  }
}
