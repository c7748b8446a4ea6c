/**
 * Parse a language well enough to colour it: comments, strings, numbers, keywords and calls, and no grammar.
 *
 * The result is a Lezer tree, so that the same parser serves static text and the editor, and both look alike. A cell is
 * short: it is always parsed whole.
 */

import { NodeSet, NodeType, Parser, Tree } from "@lezer/common"
import type { Input, PartialParse } from "@lezer/common"
import { styleTags, tags } from "@lezer/highlight"

/** How a language writes what is coloured. */
export interface TokenLanguage {
  readonly keywords: readonly string[]
  readonly constants?: readonly string[]
  readonly ignoresCase?: boolean
  readonly lineComments?: readonly string[]
  readonly blockComment?: readonly [open: string, close: string]
  /** Each opens a string and closes it again. Three of a kind come before one. */
  readonly quotes?: readonly string[]
  /** Quotes in which a backslash means nothing, and which are doubled to be written. */
  readonly rawQuotes?: readonly string[]
  /** The characters that an identifier may have besides letters, digits and the underscore. */
  readonly wordCharacters?: string
}

const NAMES = ["Document", "Comment", "String", "Number", "Keyword", "Constant", "Function", "Operator"] as const
type Name = (typeof NAMES)[number]
type Token = readonly [name: Name, from: number, to: number]

const NODES = new NodeSet(NAMES.map((name, id) => NodeType.define({ id, name, top: id === 0 }))).extend(
  styleTags({
    Comment: tags.comment,
    String: tags.string,
    Number: tags.number,
    Keyword: tags.keyword,
    Constant: tags.bool,
    Function: tags.function(tags.variableName),
    Operator: tags.operator,
  }),
)

export class TokenParser extends Parser {
  readonly language: TokenLanguage
  readonly #pattern: RegExp
  readonly #keywords: ReadonlySet<string>
  readonly #constants: ReadonlySet<string>

  constructor(language: TokenLanguage) {
    super()
    this.language = language
    this.#pattern = tokenPattern(language)
    this.#keywords = new Set(language.keywords.map((word) => this.#folded(word)))
    this.#constants = new Set(language.constants?.map((word) => this.#folded(word)))
  }

  override createParse(input: Input, _fragments: unknown, ranges: readonly { from: number; to: number }[]): PartialParse {
    const from = ranges[0]?.from ?? 0
    const to = ranges.at(-1)?.to ?? input.length
    const parse: PartialParse = {
      parsedPos: from,
      stoppedAt: null,
      stopAt: () => undefined,
      advance: () => this.#tree(input.read(from, to)),
    }
    return parse
  }

  /** The tokens of a text, in order. What is not coloured is left out. */
  *tokens(text: string): Generator<Token> {
    for (const match of text.matchAll(this.#pattern)) {
      const { comment, string, number, word, operator } = match.groups ?? {}
      const name = comment ? "Comment" : string ? "String" : number ? "Number" : operator ? "Operator" : null
      const end = match.index + match[0].length
      if (name) yield [name, match.index, end]
      else if (word) {
        const kind = this.#wordKind(word, text.charAt(end))
        if (kind) yield [kind, match.index, end]
      }
    }
  }

  #wordKind(word: string, next: string): Name | null {
    const folded = this.#folded(word)
    if (this.#keywords.has(folded)) return "Keyword"
    if (this.#constants.has(folded)) return "Constant"
    return next === "(" ? "Function" : null
  }

  #folded(word: string): string {
    return this.language.ignoresCase ? word.toLowerCase() : word
  }

  #tree(text: string): Tree {
    const buffer: number[] = []
    for (const [name, from, to] of this.tokens(text)) buffer.push(NAMES.indexOf(name), from, to, 4)
    return Tree.build({ buffer, nodeSet: NODES, topID: 0, length: text.length })
  }
}

function tokenPattern(language: TokenLanguage): RegExp {
  const { lineComments = [], blockComment, quotes = [], rawQuotes = [], wordCharacters = "" } = language
  const comments = lineComments.map((mark) => `${escaped(mark)}[^\\n]*`)
  if (blockComment) comments.push(`${escaped(blockComment[0])}[^]*?(?:${escaped(blockComment[1])}|$)`)
  const strings = [...quotes.map(quoted), ...rawQuotes.map((mark) => `${mark}(?:[^${mark}]|${mark}${mark})*(?:${mark}|$)`)]
  const word = `[\\p{L}_][\\p{L}\\p{N}_${wordCharacters.replaceAll("-", "\\-")}]*`
  const parts = [
    `(?<comment>${comments.join("|") || "(?!)"})`,
    `(?<string>${strings.join("|") || "(?!)"})`,
    `(?<number>\\b(?:0[xX][\\da-fA-F_]+|0[bB][01_]+|\\d[\\d_]*(?:\\.\\d+)?(?:[eE][+-]?\\d+)?))`,
    `(?<word>${word})`,
    `(?<operator>[-+*/%=<>!&|^~?:]+)`,
  ]
  return new RegExp(parts.join("|"), "gu")
}

/** A string up to its closing mark, or to the end of the text, or of the line where the mark is a single one. */
function quoted(mark: string): string {
  const close = escaped(mark)
  return mark.length > 1 ? `${close}[^]*?(?:${close}|$)` : `${close}(?:[^${close}\\\\\\n]|\\\\[^])*(?:${close}|(?=\\n)|$)`
}

function escaped(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}/]/g, "\\$&")
}
