/** Whether somebody looks at the page: it is visible, and has the focus or a frame of it has. */

import { Value } from "../sync/store.ts"
import type { Stop } from "../sync/store.ts"

const EVENTS = ["focus", "blur", "pageshow", "visibilitychange"] as const

export interface Attention {
  readonly value: Value<boolean>
  readonly stop: Stop
}

export function watchAttention(page: Window): Attention {
  const { document } = page
  const isGiven = (): boolean => document.visibilityState === "visible" && document.hasFocus()
  const value = new Value(isGiven())
  const update = (): void => value.set(isGiven())
  const leave = (): void => value.set(false)
  // `visibilitychange` is an event of the document, which the window hears too.
  for (const name of EVENTS) page.addEventListener(name, update)
  page.addEventListener("pagehide", leave)
  return {
    value,
    stop: () => {
      for (const name of EVENTS) page.removeEventListener(name, update)
      page.removeEventListener("pagehide", leave)
    },
  }
}
