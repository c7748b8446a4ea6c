/** A table as values: what is in its cells, which columns are numbers, its rows in order and in pages. */

export interface HeadCell {
  readonly text: string
  readonly columns: number
  readonly rows: number
  /** The first of its columns. */
  readonly at: number
}

export interface TableModel {
  readonly head: readonly (readonly HeadCell[])[]
  readonly rows: readonly (readonly string[])[]
  /** How many columns, from the left, name their rows. */
  readonly indexColumns: number
  readonly width: number
  /** What is said beside it, as its shape. */
  readonly notes: readonly string[]
}

export interface Sorting {
  readonly column: number
  readonly isDown: boolean
}

export const TABLE_PAGE = 25
/** Up to so many rows are shown at once. */
export const TABLE_WHOLE = 40

/** A cell of a table as it was read, with the cells that it reaches over. */
export interface RawCell {
  readonly text: string
  readonly columns: number
  readonly rows: number
  readonly isHead: boolean
}

const MOST_SPAN = 1000
const NUMBER = /^[-+−]?(?:\d[\d,_]*(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?%?$/i
const MISSING = new Set(["", "nan", "none", "null", "<na>", "nat", "...", "…"])

/** Put cells that reach over several rows into each of them. */
export function tableModel(head: readonly (readonly RawCell[])[], body: readonly (readonly RawCell[])[], notes: readonly string[] = []): TableModel {
  const rows = expand(body)
  const headRows = placed(head)
  const widths = [...rows.map((row) => row.length), ...headRows.map((row) => row.reduce((most, cell) => Math.max(most, cell.at + cell.columns), 0))]
  const width = Math.max(0, ...widths)
  const texts = rows.map((row) => Array.from({ length: width }, (_, at) => row[at]?.text ?? ""))
  return { head: headRows, rows: texts, indexColumns: indexColumns(rows), width, notes }
}

function indexColumns(rows: readonly (readonly RawCell[])[]): number {
  const counts = rows.map((row) => {
    const first = row.findIndex((cell) => !cell.isHead)
    return first < 0 ? row.length : first
  })
  const least = counts.length ? Math.min(...counts) : 0
  return rows.some((row) => row.length > least) ? least : 0
}

function expand(body: readonly (readonly RawCell[])[]): RawCell[][] {
  const grid: RawCell[][] = body.map(() => [])
  body.forEach((cells, y) => {
    let x = 0
    for (const cell of cells) {
      while (grid[y]?.[x]) x += 1
      for (let down = 0; down < Math.min(cell.rows, grid.length - y); down += 1) {
        for (let right = 0; right < cell.columns; right += 1) (grid[y + down] ??= [])[x + right] = cell
      }
      x += cell.columns
    }
  })
  return grid
}

function placed(head: readonly (readonly RawCell[])[]): HeadCell[][] {
  const taken: boolean[][] = head.map(() => [])
  return head.map((cells, y) => {
    let x = 0
    return cells.map((cell) => {
      while (taken[y]?.[x]) x += 1
      const rows = Math.min(cell.rows, head.length - y)
      for (let down = 0; down < rows; down += 1) for (let right = 0; right < cell.columns; right += 1) (taken[y + down] ??= [])[x + right] = true
      x += cell.columns
      return { text: cell.text, columns: cell.columns, rows, at: x - cell.columns }
    })
  })
}

export function span(value: string | null): number {
  const number = Number(value ?? 1)
  return Number.isInteger(number) && number > 0 ? Math.min(number, MOST_SPAN) : 1
}

// ---- Numbers and order

/** The number that a text is; null where it is none. */
export function numberIn(text: string): number | null {
  const trimmed = text.trim()
  if (/^[-+]?inf(inity)?$/i.test(trimmed)) return trimmed.startsWith("-") ? -Infinity : Infinity
  return NUMBER.test(trimmed) ? Number(trimmed.replace(/[,_%]/g, "").replace("−", "-")) : null
}

function isMissing(text: string): boolean {
  return MISSING.has(text.trim().toLowerCase())
}

/** Which columns hold numbers, and nothing but those. */
export function numberColumns({ rows, width }: TableModel): boolean[] {
  return Array.from({ length: width }, (_, at) => {
    const values = rows.map((row) => row[at] ?? "").filter((text) => !isMissing(text))
    return values.length > 0 && values.every((text) => numberIn(text) !== null)
  })
}

/** The row that says that some are left out. */
function isGap(row: readonly string[]): boolean {
  return row.length > 0 && row.every((text) => text === "..." || text === "…")
}

/** The rows by one column. What is missing comes last, whichever way. */
export function sorted(table: TableModel, sorting: Sorting | null): readonly (readonly string[])[] {
  if (!sorting) return table.rows
  const { column, isDown } = sorting
  const isNumber = numberColumns(table)[column] ?? false
  const order = new Intl.Collator("en", { numeric: true })
  const compare = (one: string, other: string): number => (isNumber ? (numberIn(one) ?? 0) - (numberIn(other) ?? 0) || 0 : order.compare(one, other))
  const there = table.rows.filter((row) => !isGap(row) && !isMissing(row[column] ?? ""))
  const missing = table.rows.filter((row) => !isGap(row) && isMissing(row[column] ?? ""))
  const sign = isDown ? -1 : 1
  return [...there.toSorted((one, other) => sign * compare(one[column] ?? "", other[column] ?? "")), ...missing, ...table.rows.filter(isGap)]
}

/** The cell of the head by which a column is sorted: the first that is its alone and says something. */
export function sortCells({ head, width }: TableModel): ReadonlyMap<HeadCell, number> {
  const cells = new Map<HeadCell, number>()
  for (let column = 0; column < width; column += 1) {
    const found = head.flat().find((cell) => cell.at === column && cell.columns === 1 && cell.text !== "")
    if (found) cells.set(found, column)
  }
  return cells
}
