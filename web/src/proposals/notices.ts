/** Notifications of the browser about proposals: only after somebody asked for them, and only while the page is hidden. */

import type { OpenParts } from "../sync/open.ts"
import { Value } from "../sync/store.ts"

const KEY = "quire:notify-proposals"

export type NoticeState = "off" | "on" | "blocked" | "impossible"

interface Notices {
  readonly state: Value<NoticeState>
  /** Turn them on, asking the browser's permission, or off. */
  readonly turn: () => Promise<void>
}

let made: Notices | null = null

export function notices(storage: OpenParts["storage"]): Notices {
  made ??= makeNotices(storage)
  return made
}

function makeNotices(storage: OpenParts["storage"]): Notices {
  const state = new Value<NoticeState>(initial(storage))
  const turn = async (): Promise<void> => {
    if (state.get() === "on") {
      storage.removeItem(KEY)
      return void state.set("off")
    }
    const permission = await Notification.requestPermission()
    if (permission === "granted") storage.setItem(KEY, "on")
    state.set(permission === "granted" ? "on" : permission === "denied" ? "blocked" : "off")
  }
  return { state, turn }
}

function initial(storage: OpenParts["storage"]): NoticeState {
  if (!("Notification" in globalThis)) return "impossible"
  return storage.getItem(KEY) === "on" && Notification.permission === "granted" ? "on" : "off"
}

/** Show a notification; a click on it brings the page back. */
export function showNotice(title: string, options: { readonly body: string; readonly tag: string }, clicked: () => void): void {
  try {
    const notice = new Notification(title, { ...options })
    notice.onclick = () => {
      window.focus()
      clicked()
      notice.close()
    }
  } catch {
    // Some browsers of phones show none without a service worker: the title of the page says it too.
  }
}
