/** Chance with a seed: a test that fails, fails again. */

export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = (seed * 2654435761 + 1013904223) >>> 0
  }

  /** From 0 up to, and without, 1. */
  readonly next = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }

  /** A whole number from `low` to `high`, both included. */
  integer(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1))
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[this.integer(0, choices.length - 1)]
    if (choice === undefined) throw new Error("There is nothing to pick from.")
    return choice
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.integer(0, 255))
  }

  /** A short text on which careless code breaks. */
  text(most = 4): string {
    const letters = ["x", "y", "=", "\n", "\r\n", "🦊", "é", "e\u0301", "👩‍🚀"]
    return Array.from({ length: this.integer(0, most) }, () => this.pick(letters)).join("")
  }

  /** An edit of a text of that many code points. */
  edit(length: number, most = 3): [number, number, string][] {
    const splices: [number, number, string][] = []
    let position = 0
    for (let count = this.integer(1, most); count > 0; count -= 1) {
      const at = this.integer(position, length)
      const remove = this.integer(0, Math.min(3, length - at))
      splices.push([at, remove, this.text()])
      position = at + remove
    }
    return splices
  }
}
