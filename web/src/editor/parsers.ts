/** Which parser reads which language. Lezer alone, without the editor: static text needs no more. */

import type { Parser } from "@lezer/common"
import { GFM, parseCode, parser as commonmark } from "@lezer/markdown"
import { parser as python } from "@lezer/python"
import { MagicParser } from "./magic_parser.ts"
import { TOKEN_LANGUAGES } from "./token_languages.ts"
import { TokenParser } from "./token_parser.ts"

const made = new Map<string, Parser | null>()

/** The parser of a language, by the name that a kernel gives it or `cellLanguage` does; null where it is shown as it is. */
export function parserFor(language: string): Parser | null {
  const name = languageName(language)
  const known = made.get(name)
  if (known !== undefined) return known
  const parser = makeParser(name)
  made.set(name, parser)
  return parser
}

/** One name for one language: kernels write `R`, `ipython3` and `python`. */
export function languageName(language: string): string {
  const name = language.toLowerCase()
  if (/^(i?python\d?|py)$/.test(name)) return "python"
  return name === "md" ? "markdown" : name
}

function makeParser(name: string): Parser | null {
  if (name.startsWith("%%")) return new MagicParser(parserFor(name.slice(2)))
  if (name === "python") return python
  if (name === "markdown") {
    return commonmark.configure([GFM, parseCode({ codeParser: (info) => parserFor(/^\S*/.exec(info)?.[0] ?? "") })])
  }
  const tokens = Object.hasOwn(TOKEN_LANGUAGES, name) ? TOKEN_LANGUAGES[name] : undefined
  return tokens ? new TokenParser(tokens) : null
}
