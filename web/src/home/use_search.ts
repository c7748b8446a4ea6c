/** Search over names, sources and outputs of all notebooks, once the person stops typing. */

import { useEffect, useState } from "react"

import type { Api } from "../sync/api.ts"
import type { Hit } from "../sync/api_types.ts"

const PAUSE_MILLISECONDS = 200
const LEAST_CHARACTERS = 2

export interface SearchState {
  /** What the hits are of. */
  readonly text: string
  readonly hits: readonly Hit[]
  readonly isSearching: boolean
}

const NONE: readonly Hit[] = []

export function useSearch(api: Api, wanted: string): SearchState {
  const [found, setFound] = useState<{ readonly text: string; readonly hits: readonly Hit[] }>({ text: "", hits: NONE })
  const text = wanted.trim()
  const isLong = text.length >= LEAST_CHARACTERS
  useEffect(() => {
    if (!isLong) return
    let isWanted = true
    const timer = setTimeout(() => {
      api.search(text).then(
        (hits) => isWanted && setFound({ text, hits }),
        () => isWanted && setFound({ text, hits: NONE }),
      )
    }, PAUSE_MILLISECONDS)
    return () => {
      isWanted = false
      clearTimeout(timer)
    }
  }, [api, text, isLong])
  if (!isLong) return { text: "", hits: NONE, isSearching: false }
  return { ...found, isSearching: found.text !== text }
}
