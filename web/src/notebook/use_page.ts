/** Hooks that look at the page itself. */

import { useCallback, useEffect, useState, useSyncExternalStore } from "react"
import { languageOf } from "../cells/words.ts"
import type { CellView, View } from "../actions/view.ts"
import type { CellId } from "../core/types.gen.ts"
import { useField } from "../hooks/values.ts"
import type { Live } from "../sync/live.ts"
import type { Listener } from "../sync/store.ts"

/** What a row knows of its focus and selection. */
export function useCellView(view: View, id: CellId): CellView {
  const subscribe = useCallback((listener: Listener) => view.subscribeCell(id, listener), [view, id])
  return useSyncExternalStore(subscribe, () => view.cell(id))
}

/** The language of the notebook's code, in small letters. */
export function useLanguage(live: Live): string {
  return languageOf(useField(live, "metadata"))
}

/** Renders again every so many milliseconds, as long as the component is there. */
export function useTick(milliseconds: number): void {
  const [, set] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => set((count) => count + 1), milliseconds)
    return () => clearInterval(timer)
  }, [milliseconds])
}
