/** Keys as they are printed on a keyboard: "Ctrl-Shift-P", several after one another with spaces: "D D". */

import css from "./Kbd.module.css"

export function Kbd({ keys }: { readonly keys: string }) {
  return (
    <kbd className={css["keys"]}>
      {keys.split(" ").map((chord, index) => (
        <kbd key={index}>{shownKeys(chord)}</kbd>
      ))}
    </kbd>
  )
}

const IS_MAC = typeof navigator !== "undefined" && /Mac|iP(hone|ad)/.test(navigator.userAgent)
const MAC: Readonly<Record<string, string>> = { Ctrl: "⌘", Mod: "⌘", Alt: "⌥", Shift: "⇧" }
const SIGNS: Readonly<Record<string, string>> = { Mod: "Ctrl", ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc", "-": "−" }

/** A chord as it is shown: on a Mac with its signs. */
export function shownKeys(chord: string): string {
  if (chord.length <= 1) return chord
  const parts = chord.split(/-(?=.)/)
  return parts.map((part) => (IS_MAC ? MAC[part] : undefined) ?? SIGNS[part] ?? part).join(IS_MAC ? "" : "-")
}

/** Keys as `aria-keyshortcuts` writes them. Sequences have no way of being written there. */
export function spokenKeys(keys: string | undefined): string | undefined {
  if (!keys || keys.includes(" ")) return undefined
  return keys
    .split(/-(?=.)/)
    .map((part) => (part === "Ctrl" || part === "Mod" ? (IS_MAC ? "Meta" : "Control") : part === "Esc" ? "Escape" : part))
    .join("+")
}
