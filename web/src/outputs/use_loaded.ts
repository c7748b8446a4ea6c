/** A hook for what has to be fetched or read before it can be shown. */

import { useEffect, useState } from "react"

export type Loaded<T> = { readonly state: "waiting" } | { readonly state: "there"; readonly value: T } | { readonly state: "failed"; readonly message: string }

const WAITING = { state: "waiting" } as const

/** What `load` brings, for as long as `key` is the same object. `load` is called once for each key. */
export function useLoaded<T>(key: unknown, load: () => Promise<T>): Loaded<T> {
  const [loaded, setLoaded] = useState<{ readonly key: unknown; readonly value: Loaded<T> }>({ key: null, value: WAITING })
  useEffect(() => {
    let isCurrent = true
    load().then(
      (value) => isCurrent && setLoaded({ key, value: { state: "there", value } }),
      (error: unknown) => isCurrent && setLoaded({ key, value: { state: "failed", message: error instanceof Error ? error.message : String(error) } }),
    )
    return () => {
      isCurrent = false
    }
    // A new `load` for the same key brings the same.
  }, [key])
  return loaded.key === key ? loaded.value : WAITING
}
