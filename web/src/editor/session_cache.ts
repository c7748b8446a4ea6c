/** Keep what was used last, up to a number. */

export class SessionCache<T> {
  readonly #most: number
  readonly #kept = new Map<string, T>()

  constructor(most: number) {
    this.#most = most
  }

  /** What is kept under a name, which thereby was used last; made where there is none. */
  take(name: string, make: () => T): T {
    const value = this.#kept.get(name) ?? make()
    this.#kept.delete(name)
    this.#kept.set(name, value)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > this.#most && oldest !== undefined) this.#kept.delete(oldest)
    return value
  }
}
