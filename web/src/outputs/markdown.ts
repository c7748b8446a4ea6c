/**
 * Markdown as HTML text, in the dialect of the HTML export (formats/html/markdown.py): CommonMark with tables,
 * strikethrough and formulas. The text is never a page: markdown_nodes.ts parses it inertly and builds allowed nodes.
 */

import createParser from "markdown-it"
import type { Env, MarkdownIt, RendererRule, StateBlock, StateInline, Token } from "markdown-it"
import type { Json, JsonObject } from "../core/types.gen.ts"
import { isPicture } from "./picture_media.ts"

/** Characters of one text, pictures in it not counted, that are read as Markdown; longer ones are shown as they are. */
export const MOST_MARKDOWN = 100_000

interface Environment {
  readonly attachments: JsonObject
  readonly missing: Set<string>
}

function newEnvironment(attachments: JsonObject): Env {
  const environment: Environment = { attachments, missing: new Set() }
  return environment as unknown as Env
}

function asEnvironment(env: Env | undefined): Environment {
  return env as unknown as Environment
}

const PICTURE = /data:image\/(?:png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=]*/g
const IMPOSSIBLE = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g // eslint-disable-line no-control-regex
const INLINE_MATH = /\$\$((?:[^$\\]|\\.|\$(?!\$))+)\$\$|\$(?!\s)((?:[^$\\]|\\.)+?)(?<!\s)\$(?!\d)/sy
const BLOCK_MATH = /\$\$|\\begin\{([A-Za-z]+\*?)\}/y
const LINK = /^(?:https?:\/\/|mailto:|#)[^\0-\x20]*$/i

/** Whether a link may lead there: to the web, to a mailbox, or within the page. */
export function mayLink(target: string): boolean {
  return LINK.test(target)
}

/** Whether a picture may come from there: out of the notebook itself. */
export function mayShow(source: string): boolean {
  return new RegExp(`^${PICTURE.source}$`).test(source)
}

/** Whether a text is short enough to be read as Markdown. */
export function isReadable(source: string): boolean {
  return source.length <= MOST_MARKDOWN || source.replace(PICTURE, "").length <= MOST_MARKDOWN
}

/** Markdown as HTML text. */
export function renderMarkdown(source: string, attachments: JsonObject = {}): string {
  const environment = newEnvironment(attachments)
  const tokens = parser.parse(source.replace(IMPOSSIBLE, "\ufffd"), environment)
  nameHeadings(tokens)
  return parser.renderer.render(tokens, parser.options, environment)
}

export interface Heading {
  readonly level: number
  readonly text: string
  readonly anchor: string
}

/** The headings of a text, for an outline. */
export function headingsOf(source: string): Heading[] {
  if (!isReadable(source)) return []
  return nameHeadings(parser.parse(source.replace(IMPOSSIBLE, "\ufffd"), newEnvironment({})))
}

/** Give headings the anchors that Jupyter gives them; no two of a text have the same. */
function nameHeadings(tokens: readonly Token[]): Heading[] {
  const headings: Heading[] = []
  tokens.forEach((token, index) => {
    if (token.type !== "heading_open") return
    const text = plainText(tokens[index + 1])
    const wanted = text.trim().replace(/\s+/g, "-") || "heading"
    let anchor = wanted
    for (let number = 2; headings.some((heading) => heading.anchor === anchor); number += 1) anchor = `${wanted}-${number}`
    token.attrSet("id", anchor)
    headings.push({ level: Number(token.tag.slice(1)), text, anchor })
  })
  return headings
}

const SAID = new Set(["text", "text_special", "code_inline", "math_inline", "image"])

function plainText(inline: Token | undefined): string {
  return (inline?.children ?? []).map((child) => (/break$/.test(child.type) ? " " : SAID.has(child.type) ? child.content : "")).join("")
}

// ---- The parser

function makeParser(): MarkdownIt {
  const made = createParser("commonmark", { html: true, xhtmlOut: false }).enable(["table", "strikethrough"])
  // Where a link may lead is decided when it is written: here, its text would be left as brackets.
  made.validateLink = () => true
  made.inline.ruler.before("escape", "math_inline", inlineMath)
  made.block.ruler.before("fence", "math_block", blockMath, { alt: ["paragraph", "reference", "blockquote", "list"] })
  Object.assign(made.renderer.rules, RULES)
  return made
}

function inlineMath(state: StateInline, silent: boolean): boolean {
  if (state.src[state.pos] !== "$") return false
  INLINE_MATH.lastIndex = state.pos
  const found = INLINE_MATH.exec(state.src)
  if (!found || INLINE_MATH.lastIndex > state.posMax) return false
  if (!silent) {
    const token = state.push("math_inline", "", 0)
    token.content = found[1] ?? found[2] ?? ""
    token.markup = found[1] === undefined ? "$" : "$$"
  }
  state.pos += found[0].length
  return true
}

function blockMath(state: StateBlock, start: number, end: number, silent: boolean): boolean {
  BLOCK_MATH.lastIndex = 0
  const opening = BLOCK_MATH.exec(lineOf(state, start))
  if (!opening || (state.sCount[start] ?? 0) - state.blkIndent >= 4) return false
  const closing = opening[1] === undefined ? "$$" : `\\end{${opening[1]}}`
  const last = closingLine(state, start, end, closing, opening[0].length)
  if (last === null) return false
  if (silent) return true
  const token = state.push("math_block", "", 0)
  const text = state.getLines(start, last + 1, state.blkIndent, false).trim()
  token.content = text.replace(/^\$+|\$+$/g, "").trim()
  token.map = [start, last + 1]
  state.line = last + 1
  return true
}

function lineOf(state: StateBlock, line: number): string {
  return state.src.slice((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0), state.eMarks[line])
}

/** The line on which a formula ends; null when text follows it there, or it does not end. */
function closingLine(state: StateBlock, start: number, end: number, closing: string, skip: number): number | null {
  const { missing } = asEnvironment(state.env)
  const from = (state.bMarks[start] ?? 0) + (state.tShift[start] ?? 0) + skip
  if (missing.has(closing) || !state.src.includes(closing, from)) {
    missing.add(closing)
    return null
  }
  for (let line = start; line < end; line += 1) {
    const text = lineOf(state, line)
    if (text.slice(line === start ? skip : 0).includes(closing)) return text.trimEnd().endsWith(closing) ? line : null
  }
  return null
}

// ---- What is written otherwise than markdown-it does

const escape = (text: string): string =>
  text.replace(/[&<>"']/g, (char) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;" })[char] ?? char)

const writeImage: RendererRule = (tokens, index, _options, environment) => {
  const { attachments } = asEnvironment(environment)
  const token = tokens[index]
  const target = decoded(String(token?.attrGet("src") ?? ""))
  const alt = plainText(token)
  const source = attachment(attachments, target.replace(/^attachment:/, "").trim()) ?? (mayShow(target) ? target : null)
  if (source !== null) return `<img src="${escape(source)}" alt="${escape(alt)}">`
  const named = `<a href="${escape(target)}" rel="noopener noreferrer">${escape(alt || target)}</a>`
  return `<span class="missing">Picture: ${mayLink(target) ? named : escape(alt || target)}</span>`
}

const writeLink: RendererRule = (tokens, index) => {
  const target = String(tokens[index]?.attrGet("href") ?? "")
  const title = String(tokens[index]?.attrGet("title") ?? "")
  const said = title ? ` title="${escape(title)}"` : ""
  if (!mayLink(target)) return `<a${said}>`
  return `<a href="${escape(target)}"${said}${target.startsWith("#") ? "" : ' rel="noopener noreferrer"'}>`
}

const RULES: Readonly<Record<string, RendererRule>> = {
  math_inline: (tokens, index) => `<code class="math${tokens[index]?.markup === "$$" ? " display" : ""}">${escape(tokens[index]?.content ?? "")}</code>`,
  math_block: (tokens, index) => `<pre class="math"><code class="math">${escape(tokens[index]?.content ?? "")}</code></pre>\n`,
  table_open: () => '<div class="wide"><table>\n',
  table_close: () => "</table></div>\n",
  link_open: writeLink,
  image: writeImage,
}

function decoded(target: string): string {
  try {
    return decodeURIComponent(target)
  } catch {
    return target
  }
}

/** An attachment as a `data:` address. */
export function attachment(attachments: JsonObject, name: string): string | null {
  const bundle: Json | undefined = attachments[name]
  if (typeof bundle !== "object" || bundle === null || Array.isArray(bundle)) return null
  for (const [media, value] of Object.entries(bundle)) {
    if (!isPicture(media)) continue
    const text = Array.isArray(value) ? value.join("") : value
    if (typeof text === "string") return pictureAddress(media, text)
  }
  return null
}

function pictureAddress(media: string, text: string): string | null {
  if (media === "image/svg+xml") return `data:${media};base64,${base64(text)}`
  const packed = text.replace(/\s+/g, "")
  return /^[A-Za-z0-9+/]+={0,2}$/.test(packed) ? `data:${media};base64,${packed}` : null
}

function base64(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(""))
}

const parser = makeParser()
