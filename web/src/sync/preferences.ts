/** What a person chose for this browser: kept in its storage, shared by its windows. */

import { Value } from "./store.ts"
import type { Stop } from "./store.ts"

export type Theme = "system" | "light" | "dark"
export const THEMES: readonly Theme[] = ["system", "light", "dark"]

/** index.html reads it too, before anything is painted. */
export const THEME_KEY = "quire-theme"

type PreferenceStorage = Pick<Storage, "getItem" | "setItem" | "removeItem">

export class Preferences {
  readonly theme: Value<Theme>
  readonly #storage: PreferenceStorage

  constructor(storage: PreferenceStorage) {
    this.#storage = storage
    this.theme = new Value(readTheme(storage.getItem(THEME_KEY)))
  }

  setTheme(theme: Theme): void {
    this.theme.set(theme)
    try {
      if (theme === "system") this.#storage.removeItem(THEME_KEY)
      else this.#storage.setItem(THEME_KEY, theme)
    } catch {
      // Full or closed: it holds for this window then.
    }
  }

  /** Follow what other windows of this browser choose. */
  follow(events: Pick<EventTarget, "addEventListener" | "removeEventListener">): Stop {
    const hear = (event: Event): void => {
      const { key } = event as StorageEvent
      if (key === THEME_KEY || key === null) this.theme.set(readTheme(this.#storage.getItem(THEME_KEY)))
    }
    events.addEventListener("storage", hear)
    return () => events.removeEventListener("storage", hear)
  }
}

function readTheme(text: string | null): Theme {
  return THEMES.find((theme) => theme === text) ?? "system"
}
