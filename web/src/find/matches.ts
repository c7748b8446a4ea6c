/**
 * Where a text occurs in the sources and outputs of a notebook. Pure: who searches brings the cells, piece by piece.
 *
 * Positions are in UTF-16 units, as patterns count them; `replaced` converts to code points.
 */

import { toPoints } from "../core/points.ts"
import type { Cell, CellId, Edit, Output, SourceEdited, Splice } from "../core/types.gen.ts"

export interface Query {
  readonly text: string
  readonly matchesCase: boolean
  readonly isWholeWord: boolean
  readonly isPattern: boolean
}

export interface Match {
  readonly cell: CellId
  readonly where: "source" | "output"
  /** Which output of the cell; 0 for its source. */
  readonly output: number
  readonly from: number
  readonly to: number
  /** From 1. */
  readonly line: number
  /** The line it begins in, and where in it. */
  readonly lineText: string
  readonly column: number
  readonly length: number
}

/** What to search for, or why it cannot be. */
export type Pattern = { readonly regex: RegExp } | { readonly fault: string }

const LETTER = "[\\p{L}\\p{N}_]"
/** The length of a line that is shown; the match stands in it. */
const LONGEST_LINE = 160
const BEFORE_MATCH = 14
/** How far into a line a match may stand before the line is cut: so much has room in the panel. */
const IN_SIGHT = 20

export function compile(query: Query): Pattern {
  const literal = query.text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")
  const inner = query.isPattern ? query.text : literal.replace(/\\-/g, "-")
  const source = query.isWholeWord ? `(?<!${LETTER})(?:${inner})(?!${LETTER})` : inner
  const flags = `gm${query.matchesCase ? "" : "i"}`
  try {
    return { regex: new RegExp(source, `${flags}u`) }
  } catch (error) {
    // Patterns that are only strict in Unicode mode, such as `\-`, mean the same without it.
    if (query.isWholeWord) return { fault: reason(error) }
  }
  try {
    return { regex: new RegExp(source, flags) }
  } catch (error) {
    return { fault: reason(error) }
  }
}

function reason(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message.replace(/^Invalid regular expression: (\/.*\/\w*: )?/s, "Not a regular expression: ")
}

/** What is known of the outputs of a cell: as the notebook has them, or more. */
export interface OutputTexts {
  outputs(cell: Cell): readonly Output[]
  text(output: Output): string
  /** The matches of an output that is too long to be kept, where it was searched. */
  found(cell: Cell, index: number): readonly Match[] | null
}

/** The outputs as a notebook has them. */
export const AS_OPENED: OutputTexts = { outputs: (cell) => cell.execution?.outputs ?? [], text: outputText, found: () => null }

/** All matches of one cell: its source first, then its outputs from top to bottom. */
export function matchesIn(cell: Cell, regex: RegExp, most = Infinity, texts: OutputTexts = AS_OPENED): Match[] {
  const found = textMatches(cell.source, regex, { cell: cell.id, where: "source", output: 0 }, most)
  texts.outputs(cell).forEach((output, index) => {
    const left = most - found.length
    if (left <= 0) return
    const known = texts.found(cell, index)
    found.push(...(known ?? textMatches(texts.text(output), regex, { cell: cell.id, where: "output", output: index }, left)))
  })
  return found
}

/** Where a text is, and where in it a piece of it begins. */
export interface TextPlace extends Pick<Match, "cell" | "where" | "output"> {
  readonly offset?: number
  /** Lines before it. */
  readonly lines?: number
}

/** The matches in one text, or in a piece of it. */
export function textMatches(text: string, regex: RegExp, { offset = 0, lines = 0, ...place }: TextPlace, most = Infinity): Match[] {
  const found: Match[] = []
  let line = lines + 1
  let lineStart = 0
  for (const [from, to] of spans(text, regex)) {
    if (found.length >= most) break
    for (let next = text.indexOf("\n", lineStart); next >= 0 && next < from; next = text.indexOf("\n", lineStart)) {
      line += 1
      lineStart = next + 1
    }
    found.push({ ...place, from: offset + from, to: offset + to, line, ...excerpt(text, lineStart, from, to) })
  }
  return found
}

function* spans(text: string, regex: RegExp): Generator<readonly [from: number, to: number]> {
  for (const match of text.matchAll(regex)) {
    if (match[0] !== "") yield [match.index, match.index + match[0].length]
  }
}

function excerpt(text: string, lineStart: number, from: number, to: number): Pick<Match, "lineText" | "column" | "length"> {
  const lineEnd = text.indexOf("\n", from)
  const line = text.slice(lineStart, lineEnd < 0 ? text.length : lineEnd)
  const indent = line.length - line.trimStart().length
  const column = from - lineStart
  // A long line is cut so that the match is in sight; indentation says nothing here.
  const cut = column - indent > IN_SIGHT ? column - BEFORE_MATCH : Math.min(indent, column)
  const lineText = (cut > indent ? "…" : "") + line.slice(cut, cut + LONGEST_LINE)
  const shift = cut > indent ? 1 : 0
  return { lineText, column: column - cut + shift, length: Math.min(to - from, line.length - column) }
}

// eslint-disable-next-line no-control-regex -- terminals write them
const ANSI = /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(\u0007|\u001b\\)/g

/** What an output says in words; an image says nothing. */
export function outputText(output: Output): string {
  if (output.kind === "stream") {
    const { head = "", omitted = 0, tail = "" } = output
    return plain(omitted ? `${head}\n${tail}` : head + tail)
  }
  if (output.kind === "error") {
    const { ename = "", evalue = "", traceback = [] } = output
    return plain([`${ename}: ${evalue}`, ...traceback].join("\n"))
  }
  const text = output.data?.["text/plain"]
  if (typeof text === "string") return plain(text)
  const markdown = output.data?.["text/markdown"]
  return typeof markdown === "string" ? markdown : ""
}

/** A text without what colours it on a terminal. */
export function plain(text: string): string {
  return text.includes("\u001b") ? text.replace(ANSI, "") : text
}

// ---- Replacing

export interface Replacement {
  readonly regex: RegExp
  readonly text: string
  /** Whether `$1` stands for a group. */
  readonly isPattern: boolean
  /** Only this place of the source; all of them without it. */
  readonly only?: { readonly from: number; readonly to: number }
}

/** The edit that replaces matches in a source, with how many; null when there are none. */
export function replaced(cell: Cell, replacement: Replacement): { readonly event: SourceEdited; readonly count: number } | null {
  const { regex, only } = replacement
  const units: Splice[] = []
  for (const match of cell.source.matchAll(regex)) {
    const from = match.index
    if (match[0] === "" || (only && (only.from !== from || only.to !== from + match[0].length))) continue
    units.push([from, match[0].length, expanded(match, replacement)])
  }
  if (units.length === 0) return null
  const edit: Edit = toPoints(cell.source, units)
  return { event: { type: "source_edited", cell: cell.id, edit }, count: units.length }
}

/** `$1`, `$<name>`, `$&` and `$$`, as JavaScript has them. */
function expanded(match: RegExpExecArray, { text, isPattern }: Replacement): string {
  if (!isPattern) return text
  return text.replace(/\$(?:(\$)|(&)|(\d{1,2})|<([^>]*)>)/g, (whole, dollar, all, number: string | undefined, name) => {
    if (dollar) return "$"
    if (all) return match[0]
    if (number !== undefined) return Number(number) < match.length ? (match[Number(number)] ?? "") : whole
    return match.groups ? (match.groups[String(name)] ?? "") : whole
  })
}
