/**
 * Colour source text: which part gets which class. Static text and the editor use the same classes; Code.module.css has
 * their colours.
 */

import { highlightCode, tagHighlighter, tags as t } from "@lezer/highlight"
import { cellLanguage } from "./cell_magic.ts"
import { parserFor } from "./parsers.ts"

/** The classes of source text, with the tags of Lezer that they stand for. */
export const HIGHLIGHTER = tagHighlighter([
  { tag: [t.keyword, t.modifier, t.operatorKeyword, t.controlKeyword, t.definitionKeyword, t.moduleKeyword], class: "hl-keyword" },
  { tag: [t.string, t.special(t.string), t.character, t.regexp], class: "hl-string" },
  { tag: [t.number, t.bool, t.null, t.atom, t.escape], class: "hl-number" },
  { tag: [t.comment, t.lineComment, t.blockComment], class: "hl-comment" },
  {
    tag: [t.function(t.variableName), t.function(t.propertyName), t.function(t.definition(t.variableName)), t.definition(t.className)],
    class: "hl-function",
  },
  { tag: [t.operator, t.punctuation, t.bracket, t.derefOperator, t.separator, t.meta], class: "hl-operator" },
  { tag: t.processingInstruction, class: "hl-markup" },
  { tag: t.heading, class: "hl-heading" },
  { tag: t.strong, class: "hl-strong" },
  { tag: t.emphasis, class: "hl-emphasis" },
  { tag: t.strikethrough, class: "hl-strikethrough" },
  { tag: [t.link, t.url], class: "hl-link" },
  { tag: t.monospace, class: "hl-string" },
])

/** A part of a source: its text, and its classes or "" for none. */
export interface Piece {
  readonly text: string
  readonly classes: string
}

/** A longer source stays without colour until it is edited: it would be too many elements. */
const MOST_COLOURED = 100_000

/** The source in pieces. Joined, their texts are the source. */
export function highlighted(source: string, language: string): readonly Piece[] {
  const parser = parserFor(cellLanguage(source, language))
  if (!parser || !source || source.length > MOST_COLOURED) return plain(source)
  const pieces: Piece[] = []
  let text = ""
  let classes = ""
  const add = (next: string, nextClasses: string): void => {
    if (nextClasses !== classes && text) {
      pieces.push({ text, classes })
      text = ""
    }
    classes = nextClasses
    text += next
  }
  highlightCode(source, parser.parse(source), HIGHLIGHTER, add, () => add("\n", ""))
  if (text) pieces.push({ text, classes })
  return pieces
}

/** The source as one piece without colour. */
export function plain(source: string): readonly Piece[] {
  return source ? [{ text: source, classes: "" }] : []
}
