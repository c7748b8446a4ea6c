/**
 * The HTML text that Markdown became, as nodes of the page. It is parsed inertly, and each node is built anew from the
 * lists below (those of formats/html/sanitizer.py): so it does not matter what HTML a person, an agent or a file wrote.
 */

import { parseInertly, STYLE } from "./inert.ts"
import { attachment, mayLink, mayShow } from "./markdown.ts"
import type { JsonObject } from "../core/types.gen.ts"

const WORDS = "a abbr b cite code del dfn em i img ins kbd mark q s samp small span strike strong sub sup tt u var br wbr"
const BLOCKS = "blockquote center dd details div dl dt figcaption figure h1 h2 h3 h4 h5 h6 hr li ol p pre summary ul"
const TABLES = "caption col colgroup table tbody td tfoot th thead tr"
const TAGS = new Set(`${WORDS} ${BLOCKS} ${TABLES}`.split(" "))
const DROPPED = new Set("script style x-style title template noscript iframe object textarea svg math".split(" "))
const ATTRIBUTES = new Set("align colspan dir height lang open reversed rowspan scope start title width".split(" "))
const CLASSES = /^(?:language-[\w+#.-]{1,40}|math|display|missing|wide)$/
const ALIGN = /^text-align: ?(left|right|center);?$/
const DEEPEST = 100
/** Ids of a text are kept apart from those of the page. */
export const ID_PREFIX = "md-"

export function markdownNodes(html: string, attachments: JsonObject): DocumentFragment {
  const parsed = parseInertly(html)
  const nodes = document.createDocumentFragment()
  copy(parsed.body, nodes, attachments, 0)
  return nodes
}

function copy(from: Node, to: Node, attachments: JsonObject, depth: number): void {
  for (const node of from.childNodes) {
    if (node instanceof Text || node.nodeType === Node.TEXT_NODE) to.appendChild(document.createTextNode(node.textContent ?? ""))
    else if (node.nodeType === Node.ELEMENT_NODE) copyElement(node as Element, to, attachments, depth)
  }
}

function copyElement(from: Element, to: Node, attachments: JsonObject, depth: number): void {
  const tag = from.localName
  if (DROPPED.has(tag)) return
  if (!TAGS.has(tag) || depth > DEEPEST) {
    copy(from, to, attachments, depth)
    return
  }
  if (tag === "img") {
    to.appendChild(picture(from, attachments))
    return
  }
  const made = document.createElement(tag)
  dress(made, from)
  to.appendChild(made)
  copy(from, made, attachments, depth + 1)
}

function dress(made: HTMLElement, from: Element): void {
  for (const { name, value } of from.attributes) {
    if (ATTRIBUTES.has(name)) made.setAttribute(name, value)
    else if (name === "class") made.className = value.split(/\s+/).filter((each) => CLASSES.test(each)).join(" ")
    else if (name === "id") made.id = ID_PREFIX + value
    else if (name === STYLE) made.style.textAlign = ALIGN.exec(value)?.[1] ?? ""
    else if (name === "href") link(made, value)
  }
}

function link(made: HTMLElement, target: string): void {
  if (!(made instanceof HTMLAnchorElement) || !mayLink(target)) return
  if (target.startsWith("#")) made.setAttribute("href", `#${ID_PREFIX}${target.slice(1)}`)
  else {
    made.href = target
    made.rel = "noopener noreferrer"
    made.target = "_blank"
  }
}

/** A picture of the notebook; one from elsewhere is a link, so that reading a text asks nobody for anything. */
function picture(from: Element, attachments: JsonObject): Node {
  const source = from.getAttribute("src") ?? ""
  const alt = from.getAttribute("alt") ?? ""
  const address = mayShow(source) ? source : source.startsWith("attachment:") ? attachment(attachments, source.slice("attachment:".length)) : null
  if (address === null) return missingPicture(source, alt)
  const made = document.createElement("img")
  made.src = address
  made.alt = alt
  for (const name of ["width", "height", "title"]) {
    const value = from.getAttribute(name)
    if (value !== null) made.setAttribute(name, value)
  }
  return made
}

function missingPicture(source: string, alt: string): Node {
  const made = document.createElement("span")
  made.className = "missing"
  made.textContent = "Picture: "
  const name = document.createElement("a")
  name.textContent = alt || source || "not in this notebook"
  link(name, source)
  made.append(name)
  return made
}
