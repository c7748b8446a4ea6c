/** The headings of Markdown cells and the names of the others: what a notebook consists of, in a few lines. */

import { liveCells } from "../core/notebook.ts"
import type { Cell, CellId, Notebook } from "../core/types.gen.ts"

export interface Heading {
  readonly cell: CellId
  /** 1 to 6; a named cell stands under the heading before it. */
  readonly level: number
  readonly text: string
  readonly kind: "heading" | "name"
  /** Where in the source it is, in UTF-16 units. */
  readonly at: number
}

export interface OutlineEntry extends Heading {
  /** The cells from here up to the next entry. */
  readonly cells: readonly CellId[]
}

/** Entries from top to bottom, each with the cells that belong to it. */
export function outlineOf(notebook: Notebook): OutlineEntry[] {
  const entries: (Heading & { cells: CellId[] })[] = []
  let level = 0
  for (const cell of liveCells(notebook)) {
    const found = cell.kind === "markdown" ? headingsIn(cell) : nameOf(cell, level + 1)
    for (const heading of found) entries.push({ ...heading, cells: [] })
    if (cell.kind === "markdown") level = found.at(-1)?.level ?? level
    entries.at(-1)?.cells.push(cell.id)
  }
  return entries
}

function nameOf(cell: Cell, level: number): Heading[] {
  return cell.name ? [{ cell: cell.id, level, text: cell.name, kind: "name", at: 0 }] : []
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/
const ATX = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/
const SETEXT = /^ {0,3}(=+|-+)[ \t]*$/

/** The headings of one cell; what stands in a block of code is none. */
export function headingsIn({ id, source }: Pick<Cell, "id" | "source">): Heading[] {
  const found: Heading[] = []
  let fence = ""
  let before: { readonly text: string; readonly at: number } | null = null
  let at = 0
  for (const line of source.split("\n")) {
    const mark = FENCE.exec(line)?.[1] ?? ""
    if (fence) {
      if (mark.startsWith(fence)) fence = ""
      before = null
    } else if (mark) {
      fence = mark
      before = null
    } else {
      const heading: Found | null = atx(line) ?? setext(line, before)
      if (heading) found.push({ cell: id, kind: "heading", at: heading.isAbove && before ? before.at : at, ...wordsOf(heading) })
      before = heading || !line.trim() || /^ {4}|^\s*([-*+>]|\d+[.)])\s/.test(line) ? null : { text: line, at }
    }
    at += line.length + 1
  }
  return found.filter(({ text }) => text !== "")
}

interface Found {
  readonly level: number
  readonly markdown: string
  readonly isAbove?: boolean
}

function atx(line: string): Found | null {
  const match = ATX.exec(line)
  return match ? { level: match[1]?.length ?? 1, markdown: match[2] ?? "" } : null
}

function setext(line: string, before: { readonly text: string } | null): Found | null {
  const match = before ? SETEXT.exec(line) : null
  return match && before ? { level: match[1]?.startsWith("=") ? 1 : 2, markdown: before.text, isAbove: true } : null
}

function wordsOf({ level, markdown }: Found): { readonly level: number; readonly text: string } {
  return { level, text: plainText(markdown) }
}

/** Markdown of one line without its marks. */
export function plainText(markdown: string): string {
  return markdown
    .replace(/!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])/g, "$1")
    .replace(/`+([^`]+)`+/g, "$1")
    .replace(/(\*\*|__|\*|~~)(?=\S)(.+?)(?<=\S)\1/g, "$2")
    .replace(/(?<!\w)_(?=\S)(.+?)(?<=\S)_(?!\w)/g, "$1")
    .replace(/\\([!-/:-@[-`{-~])/g, "$1")
    .trim()
}
