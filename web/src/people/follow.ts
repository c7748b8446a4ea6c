/** Following somebody: the page goes where they go, until one does something oneself. */

import type { CellId } from "../core/types.gen.ts"
import type { Live } from "../sync/live.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Value } from "../sync/store.ts"
import type { Stop } from "../sync/store.ts"

/** What is one's own way of going somewhere: it ends the following. */
const OWN_MOVES = ["wheel", "pointerdown", "keydown", "touchmove"] as const

export class Follow {
  /** The window that is followed. */
  readonly window = new Value<string | null>(null)
  #stop: Stop = () => undefined

  start({ presence }: PageContext, window: string): void {
    this.end()
    this.window.set(window)
    let last: CellId | null = null
    const go = (): void => {
      const other = presence.others.get().find((each) => each.window === window)
      if (!other) return void this.end()
      if (other.cell === null || other.cell === last) return
      last = other.cell
      document.querySelector(`[data-cell="${CSS.escape(last)}"]`)?.scrollIntoView({ block: "center", behavior: "smooth" })
    }
    const stopWatching = presence.others.subscribe(go)
    const moved = (event: Event): void => {
      if (!(event.target instanceof Element) || !event.target.closest("[data-follow]")) this.end()
    }
    for (const name of OWN_MOVES) addEventListener(name, moved, { passive: true })
    this.#stop = () => {
      stopWatching()
      for (const name of OWN_MOVES) removeEventListener(name, moved)
    }
    go()
  }

  end(): void {
    this.#stop()
    this.#stop = () => undefined
    this.window.set(null)
  }
}

const FOLLOWS = new WeakMap<Live, Follow>()

/** Whom the window with this notebook follows: also while the panel is closed. */
export function followOf(live: Live): Follow {
  const follow = FOLLOWS.get(live) ?? new Follow()
  FOLLOWS.set(live, follow)
  return follow
}
