/**
 * Positions in text. The log counts Unicode code points, JavaScript counts UTF-16 units, of which a code point past
 * U+FFFF has two. Text without such pairs needs no conversion, and that is nearly all text.
 */

import type { Edit, Splice } from "./types.gen.ts"

const PAIR = /[\ud800-\udbff][\udc00-\udfff]/

/** Whether code points and units differ in this text. */
export function hasPairs(text: string): boolean {
  return PAIR.test(text)
}

/** How many code points a text has. */
export function pointLength(text: string): number {
  if (!hasPairs(text)) return text.length
  let points = 0
  for (let unit = 0; unit < text.length; unit += width(text, unit)) points += 1
  return points
}

/** The unit at which a code point begins; the end of the text for what lies past it. */
export function unitAt(text: string, point: number): number {
  let unit = 0
  for (let left = point; left > 0 && unit < text.length; left -= 1) unit += width(text, unit)
  return unit
}

/** How many code points begin before a unit. One in the middle of a pair counts as its beginning. */
export function pointAt(text: string, unit: number): number {
  const end = isMiddle(text, unit) ? unit - 1 : unit
  return pointLength(text.slice(0, end))
}

/** The same edit with positions in units, for an editor that shows `text`. */
export function toUnits(text: string, edit: Edit): Edit {
  return hasPairs(text) ? converted(edit, text, unitAt) : edit
}

/** The edit that an editor made in units of `text`, with positions in code points. Pairs that it cut are taken whole. */
export function toPoints(text: string, edit: Edit): Edit {
  return hasPairs(text) ? converted(wholePairs(text, edit), text, pointAt) : edit
}

function converted(edit: Edit, text: string, convert: (text: string, position: number) => number): Edit {
  return edit.map(([at, remove, insert]): Splice => {
    const start = convert(text, at)
    return [start, convert(text, at + remove) - start, insert]
  })
}

function wholePairs(text: string, edit: Edit): Edit {
  return edit.map(([at, remove, insert]): Splice => {
    const isCutBefore = isMiddle(text, at)
    const isCutBehind = isMiddle(text, at + remove)
    if (!isCutBefore && !isCutBehind) return [at, remove, insert]
    const start = isCutBefore ? at - 1 : at
    const end = isCutBehind ? at + remove + 1 : at + remove
    const before = isCutBefore ? text.charAt(at - 1) : ""
    const behind = isCutBehind ? text.charAt(at + remove) : ""
    return [start, end - start, before + insert + behind]
  })
}

function isMiddle(text: string, unit: number): boolean {
  return unit > 0 && unit < text.length && isLow(text.charCodeAt(unit)) && isHigh(text.charCodeAt(unit - 1))
}

function width(text: string, unit: number): number {
  return isHigh(text.charCodeAt(unit)) && isLow(text.charCodeAt(unit + 1)) ? 2 : 1
}

function isHigh(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff
}
