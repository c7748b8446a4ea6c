/** Which dialog about an actor is open on a page: from the panel, from the palette, or from elsewhere. */

import type { Live } from "../sync/live.ts"
import { Value } from "../sync/store.ts"

export type ActorDialog =
  | { readonly kind: "undo"; readonly actor: string }
  /** Without an actor, one is chosen in it. */
  | { readonly kind: "pause"; readonly actor: string | null }

interface Page {
  readonly dialog: Value<ActorDialog | null>
  /** How far the log was when the page was opened. */
  readonly openedAt: number
}

const PAGES = new WeakMap<Live, Page>()

export function dialogsOf(live: Live): Page {
  const page = PAGES.get(live) ?? { dialog: new Value<ActorDialog | null>(null), openedAt: live.seq }
  PAGES.set(live, page)
  return page
}
