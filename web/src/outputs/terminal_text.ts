/** Text in a terminal's colours as nodes of the page: text and spans with classes, nothing of it becomes markup. */

import { harmless } from "../core/visible.ts"
import { overwritten, PLAIN, readAnsi } from "./ansi.ts"
import type { Look } from "./ansi.ts"
import css from "./TerminalText.module.css"

const TERMINAL = [
  ...["#000000", "#cd3131", "#0dbc79", "#c6a700", "#2472c8", "#bc3fbc", "#11a8cd", "#e5e5e5"],
  ...["#666666", "#f14c4c", "#23d18b", "#f5f543", "#3b8eea", "#d670d6", "#29b8db", "#ffffff"],
]

/** The nodes of a text that begins with this look, and the look after it. */
export function terminalNodes(text: string, look: Look = PLAIN): [nodes: DocumentFragment, after: Look] {
  const nodes = document.createDocumentFragment()
  const [stretches, after] = readAnsi(overwritten(text), look)
  for (const stretch of stretches) nodes.append(stretchNode(stretch.look, stretch.text))
  return [nodes, after]
}

function stretchNode(look: Look, text: string): Node {
  const shown = harmless(text)
  if (look === PLAIN) return document.createTextNode(shown)
  const span = document.createElement("span")
  span.textContent = shown
  dress(span, look)
  return look.link === null ? span : linkNode(look.link, span, shown)
}

/** A link of a terminal shows where it leads: its text may say anything. */
function linkNode(address: string, text: HTMLElement, shown: string): Node {
  const link = document.createElement("a")
  link.href = address
  link.rel = "noopener noreferrer"
  link.target = "_blank"
  const nodes = document.createDocumentFragment()
  if (shown.trim() === address) link.append(text)
  else {
    link.textContent = harmless(address)
    link.className = css["address"] ?? ""
    nodes.append(text, " ")
  }
  nodes.append(link)
  return nodes
}

function dress(span: HTMLElement, look: Look): void {
  const names = (["bold", "faint", "italic", "underline", "strike"] as const).filter((name) => look[name])
  span.classList.add(...names.map((name) => css[name] ?? name))
  const [colour, background] = look.inverse ? [look.background, look.colour] : [look.colour, look.background]
  if (background !== null) dressOn(span, background, colour)
  else if (colour?.startsWith("#")) {
    span.classList.add(css["own"] ?? "")
    span.style.setProperty("--own", colour)
  } else if (colour !== null) span.classList.add(css[`c${colour}`] ?? "")
  if (look.inverse && background === null) span.classList.add(css["inverse"] ?? "")
}

/** On a background of its own, text does not follow the page's light and dark. */
function dressOn(span: HTMLElement, background: string, colour: string | null): void {
  const behind = rgb(background)
  const parts = [1, 3, 5].map((at) => parseInt(behind.slice(at, at + 2), 16))
  const isBright = 299 * (parts[0] ?? 0) + 587 * (parts[1] ?? 0) + 114 * (parts[2] ?? 0) > 140_000
  span.style.backgroundColor = behind
  span.style.color = colour === null ? (isBright ? "#000000" : "#ffffff") : rgb(colour)
}

function rgb(colour: string): string {
  return colour.startsWith("#") ? colour : (TERMINAL[Number(colour)] ?? "#000000")
}
