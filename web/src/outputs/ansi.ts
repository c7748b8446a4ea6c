/**
 * Colours of terminals: text with escape sequences as stretches of one look each.
 *
 * The dialect of the HTML export (formats/html/escape.py): sequences for colours and weights are obeyed, links (OSC 8) are
 * kept, all others are left out. What a look is after one text is where the next one begins, so a stream that grows is
 * never read again from its start.
 */

/** How a terminal would show a stretch of text. A colour is a number below 16, or `#rrggbb`. */
export interface Look {
  readonly colour: string | null
  readonly background: string | null
  readonly bold: boolean
  readonly faint: boolean
  readonly italic: boolean
  readonly underline: boolean
  readonly strike: boolean
  readonly inverse: boolean
  /** Where a link leads to that the text is in: http(s) only. */
  readonly link: string | null
}

export interface Stretch {
  readonly look: Look
  readonly text: string
}

export const PLAIN: Look = {
  colour: null,
  background: null,
  bold: false,
  faint: false,
  italic: false,
  underline: false,
  strike: false,
  inverse: false,
  link: null,
}

type Flag = "bold" | "faint" | "italic" | "underline" | "inverse" | "strike"

const SEQUENCE =
  // eslint-disable-next-line no-control-regex -- it is about them
  /\x1b\[([0-9;:]*)m|\x1b\]8;[^;\x07\x1b]*;([^\x07\x1b]*)(?:\x07|\x1b\\)|\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-Z\\-_]|\x1b[ -/]+[0-~]/g
const FLAGS = new Map<number, Flag>([
  [1, "bold"],
  [2, "faint"],
  [3, "italic"],
  [4, "underline"],
  [7, "inverse"],
  [9, "strike"],
])
const ENDS = new Map<number, Flag>([
  [23, "italic"],
  [24, "underline"],
  [27, "inverse"],
  [29, "strike"],
])
const LONGEST_LINK = 2000

/** The stretches of a text that begins with this look, and the look after it. */
export function readAnsi(text: string, look: Look = PLAIN): [stretches: Stretch[], after: Look] {
  const stretches: Stretch[] = []
  if (!text.includes("\x1b")) return [text ? [{ look, text }] : stretches, look]
  let position = 0
  for (const match of text.matchAll(SEQUENCE)) {
    if (match.index > position) stretches.push({ look, text: text.slice(position, match.index) })
    position = match.index + match[0].length
    look = after(look, match)
  }
  if (position < text.length) stretches.push({ look, text: text.slice(position) })
  return [stretches, look]
}

/** The look after a text, without its stretches. */
export function lookAfter(text: string, look: Look = PLAIN): Look {
  if (!text.includes("\x1b")) return look
  for (const match of text.matchAll(SEQUENCE)) look = after(look, match)
  return look
}

/** The text without any sequence. */
export function withoutAnsi(text: string): string {
  return text.includes("\x1b") ? text.replace(SEQUENCE, "") : text
}

function after(look: Look, [, codes, link]: RegExpMatchArray): Look {
  if (codes !== undefined) return afterCodes(look, codes)
  return link === undefined ? look : { ...look, link: webAddress(link) }
}

function webAddress(link: string): string | null {
  return /^https?:\/\//i.test(link) && link.length <= LONGEST_LINK && URL.canParse(link) ? link : null
}

function afterCodes(look: Look, codes: string): Look {
  const numbers = codes.split(/[;:]/).map((code) => Number(code.slice(0, 4)))
  for (let at = 0; at < numbers.length; at += 1) {
    const number = numbers[at] ?? 0
    if (number === 38 || number === 48) {
      const [colour, used] = wide(numbers.slice(at + 1))
      look = number === 38 ? { ...look, colour } : { ...look, background: colour }
      at += used
    } else look = afterOne(look, number)
  }
  return look
}

function afterOne(look: Look, number: number): Look {
  if (number === 0) return { ...PLAIN, link: look.link }
  const flag = FLAGS.get(number)
  if (flag) return { ...look, [flag]: true }
  if (number === 21 || number === 22) return { ...look, bold: false, faint: false }
  const end = ENDS.get(number)
  return end ? { ...look, [end]: false } : afterColour(look, number)
}

/** One of the sixteen colours, or none. */
function afterColour(look: Look, number: number): Look {
  if (number === 39) return { ...look, colour: null }
  if (number === 49) return { ...look, background: null }
  const ones = number % 10
  const tens = Math.floor(number / 10)
  if (ones > 7) return look
  if (tens === 3 || tens === 9) return { ...look, colour: String(ones + (tens === 9 ? 8 : 0)) }
  if (tens === 4 || tens === 10) return { ...look, background: String(ones + (tens === 10 ? 8 : 0)) }
  return look
}

/** A colour out of 256, or by red, green and blue; and how many numbers it took. */
function wide([kind, ...rest]: readonly number[]): [colour: string | null, used: number] {
  if (kind === 5) {
    const number = rest[0] ?? 256
    return [number < 16 ? String(number) : number < 256 ? ofPalette(number) : null, 2]
  }
  if (kind === 2) return [hex(rest.slice(0, 3).map((part) => Math.min(part, 255))), 4]
  return [null, 1]
}

function ofPalette(number: number): string {
  if (number >= 232) return hex(Array<number>(3).fill(8 + 10 * (number - 232)))
  const steps = [0, 95, 135, 175, 215, 255]
  return hex([36, 6, 1].map((unit) => steps[Math.floor((number - 16) / unit) % 6] ?? 0))
}

function hex(parts: readonly number[]): string {
  return `#${[0, 1, 2].map((at) => (parts[at] ?? 0).toString(16).padStart(2, "0")).join("")}`
}

// ---- Overwritten text

/** Text as a terminal leaves it: what a carriage return or a backspace went back over is gone. Sequences stay where they are. */
export function overwritten(text: string): string {
  const ended = text.replace(/\r+\n/g, "\n")
  if (!/[\r\b]/.test(ended)) return ended
  return ended.split("\n").map(overwrittenLine).join("\n")
}

function overwrittenLine(line: string): string {
  if (!/[\r\b]/.test(line)) return line
  const shown: string[] = []
  let column = 0
  let waiting = ""
  for (const part of line.matchAll(new RegExp(`${SEQUENCE.source}|[^]`, "gu"))) {
    const char = part[0]
    if (char === "\r") column = 0
    else if (char === "\b") column = Math.max(column - 1, 0)
    else if (char.length > 1 && char.startsWith("\x1b")) waiting += char
    else {
      shown[column] = waiting + char
      waiting = ""
      column += 1
    }
  }
  return shown.join("") + waiting
}
