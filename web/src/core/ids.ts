/**
 * New ids. Randomness and time are arguments.
 *
 * Ids of events, executions and so on are ULIDs: 26 characters that sort by time. Cells get short ids, because people and
 * agents type them: eight characters, the first four of which no other cell of the notebook shares.
 */

import type { CellId } from "./types.gen.ts"

/** Fills an array with random bytes: `crypto.getRandomValues` at the edges, a seeded one in tests. */
export type Entropy = (count: number) => Uint8Array

const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
const LETTERS = "abcdefghjkmnpqrstvwxyz"
const ALPHABET = `${LETTERS}0123456789`
const CELL_ID_LENGTH = 8
const UNIQUE_PREFIX = 4

/** Make an id that sorts by time: 48 bits of milliseconds, 80 random bits. */
export function ulid(milliseconds: number, entropy: Entropy): string {
  const random = entropy(16)
  let time = ""
  for (let left = Math.floor(milliseconds), digit = 0; digit < 10; digit += 1) {
    time = CROCKFORD.charAt(left % 32) + time
    left = Math.floor(left / 32)
  }
  return time + Array.from(random, (byte) => CROCKFORD.charAt(byte % 32)).join("")
}

/** Make one cell id beside those in `taken`. */
export function newCellId(taken: Iterable<CellId>, entropy: Entropy): CellId {
  const prefixes = new Set(Array.from(taken, (id) => id.slice(0, UNIQUE_PREFIX)))
  for (;;) {
    const [first = 0, ...rest] = entropy(CELL_ID_LENGTH)
    const id = pick(LETTERS, first) + rest.map((byte) => pick(ALPHABET, byte)).join("")
    if (!prefixes.has(id.slice(0, UNIQUE_PREFIX))) return id
  }
}

function pick(alphabet: string, byte: number): string {
  return alphabet.charAt(byte % alphabet.length)
}
