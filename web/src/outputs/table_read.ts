/** Read a table out of HTML, if it is nothing but a table. Parsed inertly: nothing in it runs or is fetched. */

import { parseInertly, STYLE } from "./inert.ts"
import { span, tableModel } from "./table_model.ts"
import type { RawCell, TableModel } from "./table_model.ts"

/** Longer ones are a frame's. */
const MOST_HTML = 3_000_000
const PLAIN = new Set(
  "HTML HEAD BODY DIV X-STYLE TABLE THEAD TBODY TFOOT TR TH TD CAPTION COLGROUP COL P SMALL SPAN B STRONG EM I CODE BR SUB SUP".split(" "),
)

/** The table that this HTML is; null where it has more than one, or anything that a table does not show. */
export function readTable(html: string): TableModel | null {
  if (html.length > MOST_HTML || !/<table[\s>]/i.test(html)) return null
  const parsed = parseInertly(html)
  const tables = parsed.querySelectorAll("table")
  const [table] = tables
  if (tables.length !== 1 || !table || ![...parsed.querySelectorAll("*")].every(isPlain)) return null
  const rows = [...table.rows]
  const isHead = (row: HTMLTableRowElement): boolean => row.parentElement?.tagName === "THEAD"
  const head = rows.filter(isHead).map(rawCells)
  const body = rows.filter((row) => !isHead(row)).map(rawCells)
  const first = !head.length && body[0]?.every((cell) => cell.isHead) ? body.splice(0, 1) : []
  if (!body.length && !head.length) return null
  return tableModel([...head, ...first], body, notesOf(parsed, table))
}

/** Styles that give cells a meaning, as pandas' Styler does, would be lost here. */
function isPlain(element: Element): boolean {
  if (!PLAIN.has(element.tagName)) return false
  if (element.tagName === "X-STYLE") return !element.textContent.includes("#") && !/color|background/i.test(element.textContent)
  const style = element.getAttribute(STYLE)
  if (style && !/^(\s*(text-align|white-space|vertical-align)\s*:[^;]*;?)*\s*$/i.test(style)) return false
  return [...element.attributes].every(({ name }) => !/^(data-)?on/.test(name))
}

function rawCells(row: HTMLTableRowElement): RawCell[] {
  return [...row.cells].map((cell) => ({
    text: cellText(cell),
    columns: span(cell.getAttribute("colspan")),
    rows: span(cell.getAttribute("rowspan")),
    isHead: cell.tagName === "TH",
  }))
}

function cellText(cell: Element): string {
  for (const end of cell.querySelectorAll("br")) end.replaceWith("\n")
  return cell.textContent.trim()
}

/** What is said around it: its shape, its caption. */
function notesOf(parsed: Document, table: Element): string[] {
  const caption = table.querySelector("caption")?.textContent.trim()
  for (const gone of [table, ...parsed.querySelectorAll("x-style")]) gone.remove()
  const around = parsed.body.textContent.trim().replace(/\s+/g, " ")
  return [caption, around].filter((text): text is string => Boolean(text))
}
