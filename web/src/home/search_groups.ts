/** What a search found, by notebook and run; and a line cut where the searched words stand in it. Pure. */

import type { Hit } from "../sync/api_types.ts"

/** What was found in one notebook or run. */
export interface HitGroup {
  readonly log: Hit["log"]
  readonly name: string
  /** Of a run; null for a notebook. */
  readonly run: Hit["run"]
  /** Places in cells; none if only the name was found. */
  readonly hits: readonly Hit[]
}

export interface HitGroups {
  readonly notebooks: readonly HitGroup[]
  /** The one that was asked for last first. */
  readonly runs: readonly HitGroup[]
}

/** Fold hits of one log together. Notebooks that were found by name alone are left out: the list of notebooks has them. */
export function groupHits(found: readonly Hit[]): HitGroups {
  const groups = new Map<string, Hit[]>()
  for (const hit of found) groups.set(hit.log, [...(groups.get(hit.log) ?? []), hit])
  const all = [...groups.values()].flatMap((hits) => {
    const [first] = hits
    return first ? [{ log: first.log, name: first.name, run: first.run, hits: placesOf(hits) }] : []
  })
  return {
    notebooks: all.filter(({ run, hits }) => run === null && hits.length > 0),
    runs: all.filter(({ run }) => run !== null).sort((one, other) => ((one.run?.at ?? "") < (other.run?.at ?? "") ? 1 : -1)),
  }
}

/** Of a run its outputs first: the code is that of its notebook. */
function placesOf(hits: readonly Hit[]): readonly Hit[] {
  const of = (wanted: Hit["where"]): readonly Hit[] => hits.filter(({ where }) => where === wanted)
  return hits[0]?.run ? [...of("output"), ...of("source")] : [...of("source"), ...of("output")]
}

/** A piece of a line; `isFound` if it is one of the words. */
export interface Piece {
  readonly text: string
  readonly isFound: boolean
}

/** So many characters are shown before the first word. */
const BEFORE = 40

/** A line in pieces, from shortly before the first of the words on. */
export function markWords(line: string, text: string): readonly Piece[] {
  const words = text.split(/\s+/).filter(Boolean)
  if (words.length === 0) return [{ text: line, isFound: false }]
  const pieces = line.split(new RegExp(`(${words.map(escaped).join("|")})`, "iu"))
  const shown = pieces.map((piece, index) => ({ text: piece, isFound: index % 2 === 1 }))
  const [first, ...rest] = shown
  const head = first && rest.length > 0 && first.text.length > BEFORE ? { ...first, text: `…${first.text.slice(-BEFORE)}` } : first
  return [...(head ? [head] : []), ...rest].filter((piece) => piece.text !== "")
}

function escaped(word: string): string {
  return word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
}
