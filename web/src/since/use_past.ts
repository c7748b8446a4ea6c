/** The notebook as it was when this person last looked. */

import { useEffect, useState } from "react"

import type { Notebook } from "../core/types.gen.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { seenOf } from "../sync/seen.ts"

export interface Past {
  readonly notebook: Notebook | null
  readonly fault: string | null
}

const NOTHING: Past = { notebook: null, fault: null }

export function usePast({ live }: PageContext): Past {
  const [past, setPast] = useState(NOTHING)
  useEffect(() => {
    let isGone = false
    seenOf(live)
      .past()
      ?.then(
        (notebook) => isGone || setPast({ notebook, fault: null }),
        (error: unknown) => isGone || setPast({ notebook: null, fault: error instanceof Error ? error.message : String(error) }),
      )
    return () => void (isGone = true)
  }, [live])
  return past
}
