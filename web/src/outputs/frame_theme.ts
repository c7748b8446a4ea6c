/** The colours of the page, for the frames in it. */

import type { FrameTheme } from "./protocol.ts"

const NAMES = ["--paper", "--ink", "--ink-soft", "--line", "--line-strong", "--accent", "--paper-sunken", "--font-code"]

export function frameTheme(): FrameTheme {
  const style = getComputedStyle(document.documentElement)
  const scheme = style.colorScheme
  const isDark = scheme === "dark" || (scheme.includes("dark") && matchMedia("(prefers-color-scheme: dark)").matches)
  const colours = Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(name).trim()]))
  return { isDark, colours, font: style.getPropertyValue("--font").trim() }
}

/** Call back when the page turns light or dark. */
export function watchTheme(listener: () => void): () => void {
  const media = matchMedia("(prefers-color-scheme: dark)")
  const observer = new MutationObserver(listener)
  media.addEventListener("change", listener)
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["class", "style", "data-theme"] })
  return () => {
    media.removeEventListener("change", listener)
    observer.disconnect()
  }
}
