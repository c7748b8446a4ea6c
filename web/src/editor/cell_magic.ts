/**
 * Cells of a Python kernel whose first line hands them to another language: `%%bash`, `%%sql`.
 *
 * Such a cell has a language of its own, named as its magic is: `%%sql`. `%%text` is one that is not coloured.
 */

import { magicLines } from "./magic_parser.ts"
import { languageName } from "./parsers.ts"

const PREFIX = "%%"

/** Magics whose cell is not Python, with its language. All others leave it Python: `%%time`, `%%capture`, unknown ones. */
const LANGUAGES: Readonly<Record<string, string>> = {
  "!": "bash", bash: "bash", sh: "bash", sx: "bash", system: "bash", cmd: "text", script: "text",
  sql: "sql", bigquery: "sql", duckdb: "sql", sparksql: "sql",
  javascript: "javascript", js: "javascript",
  r: "r", julia: "julia", markdown: "markdown",
  html: "text", svg: "text", latex: "text", perl: "text", ruby: "text", file: "text", writefile: "text",
}

/** The languages of files that `%%writefile` writes, and of programs that `%%script` starts. */
const BY_NAME: Readonly<Record<string, string>> = {
  py: "python", python: "python", python2: "python", python3: "python", pypy: "python", pypy3: "python",
  sh: "bash", bash: "bash", zsh: "bash", sql: "sql", js: "javascript", node: "javascript", ts: "javascript", json: "javascript",
  md: "markdown", r: "r", rscript: "r", jl: "julia", julia: "julia", c: "c", h: "c", cpp: "c", java: "c", go: "c", rs: "c",
}

/** The language of a cell: the kernel's, or that of the magic in its first lines. */
export function cellLanguage(source: string, language: string): string {
  if (!source.startsWith(PREFIX) || languageName(language) !== "python") return language
  for (const line of magicLines(source)) {
    const name = magicLanguage(line)
    if (name !== null) return name === "python" ? language : PREFIX + name
  }
  return language
}

/** The language that a magic hands its cell to; null where that is left to the next line. */
function magicLanguage(line: string): string | null {
  const [magic = "", ...given] = line.slice(PREFIX.length).trimEnd().split(/\s+/)
  const name = magic.toLowerCase()
  if (/^(?:script|file|writefile)$/.test(name)) return namedLanguage(given.filter((word) => !word.startsWith("-")), name === "script")
  return Object.hasOwn(LANGUAGES, name) ? (LANGUAGES[name] ?? null) : null
}

function namedLanguage(words: readonly string[], isProgram: boolean): string {
  const word = (isProgram ? words.find((each) => !/^(?:\/usr\/bin\/)?env$/.test(each)) : words.at(-1)) ?? ""
  const name = (word.split(isProgram ? /[\\/]/ : ".").at(-1) ?? "").toLowerCase()
  return Object.hasOwn(BY_NAME, name) ? (BY_NAME[name] ?? "text") : "text"
}
