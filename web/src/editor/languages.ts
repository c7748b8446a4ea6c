/** What the editor knows of a language: its parser, how it is indented and commented, and its words. */

import { completeAnyWord, completeFromList } from "@codemirror/autocomplete"
import type { CompletionContext, CompletionResult } from "@codemirror/autocomplete"
import { globalCompletion, localCompletionSource, pythonLanguage } from "@codemirror/lang-python"
import { defineLanguageFacet, Language } from "@codemirror/language"
import { EditorState } from "@codemirror/state"
import type { Extension, Text } from "@codemirror/state"
import { cellLanguage } from "./cell_magic.ts"
import { languageName, parserFor } from "./parsers.ts"
import type { CellEditorProps } from "./props.ts"
import { TOKEN_LANGUAGES } from "./token_languages.ts"

/** Magics stand in the first lines: no more of a long cell is read. */
const MAGIC_CHARACTERS = 1000
const made = new Map<string, Extension>()

/** The language that a cell is in as its text is now. */
export function languageOf({ kind, language }: Pick<CellEditorProps, "kind" | "language">, text: Text): string {
  return kind === "code" ? cellLanguage(text.sliceString(0, MAGIC_CHARACTERS), language) : kind
}

/** The extension of a language. */
export function languageExtension(language: string): Extension {
  const name = languageName(language)
  const known = made.get(name)
  if (known) return known
  const extension = name === "python" ? [pythonLanguage.extension, pythonData()] : parsedLanguage(name)
  made.set(name, extension)
  return extension
}

function pythonData(): Extension {
  return EditorState.languageData.of(() => [{ closeBrackets: { brackets: ["(", "[", "{", "'", '"', "'''", '"""'] } }])
}

function parsedLanguage(name: string): Extension {
  const parser = parserFor(name)
  const data = EditorState.languageData.of(() => [languageData(name)])
  return parser ? [new Language(defineLanguageFacet(), parser, [], name).extension, data] : data
}

/** The language below the line of a magic: `sql` of `%%sql`. */
function bodyOf(name: string): string {
  return name.replace(/^%%/, "")
}

function languageData(name: string): Record<string, unknown> {
  if (bodyOf(name) === "markdown") {
    return { commentTokens: { block: { open: "<!--", close: "-->" } }, closeBrackets: { brackets: ["(", "[", "{", "`"] } }
  }
  const { lineComments = ["#"], blockComment } = TOKEN_LANGUAGES[bodyOf(name)] ?? {}
  const block = blockComment && { block: { open: blockComment[0], close: blockComment[1] } }
  return { commentTokens: { line: lineComments[0], ...block }, closeBrackets: { brackets: ["(", "[", "{", "'", '"'] } }
}

type WordSource = (context: CompletionContext) => CompletionResult | Promise<CompletionResult | null> | null

const sqlWords: WordSource = completeFromList(
  (TOKEN_LANGUAGES["sql"]?.keywords ?? []).map((word) => ({ label: word.toUpperCase(), type: "keyword" })),
)

/** Completions that need no kernel: names of this text, and words of the language. */
export function localCompletions(language: string, context: CompletionContext): ReturnType<WordSource> {
  const name = languageName(language)
  const word = context.matchBefore(/[\p{L}\p{N}_]+$/u)
  if (name === "markdown" || (!context.explicit && (word?.text.length ?? 0) < 2)) return null
  if (name === "python") return localCompletionSource(context) ?? (context.explicit ? globalCompletion(context) : null)
  return bodyOf(name) === "sql" ? sqlWords(context) : completeAnyWord(context)
}
