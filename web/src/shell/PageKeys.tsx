/** The `?` sheet of a page that is no notebook and not home: its own keys, those that work everywhere, those of a notebook. */

import { lazy, Suspense, useEffect, useState } from "react"

const KeysDialog = lazy(() => import("./KeysDialog.tsx"))

/** A key and what it does. */
export interface PageKey {
  readonly keys: string
  readonly title: string
}

export interface PageKeysProps {
  /** Where the table of the page's own keys is. */
  readonly load?: () => Promise<readonly PageKey[]>
}

export function PageKeys({ load }: PageKeysProps) {
  const [isOpen, setOpen] = useState(false)
  const [own, setOwn] = useState<readonly PageKey[]>([])
  useEffect(() => {
    if (isOpen && load) load().then(setOwn, () => undefined)
  }, [isOpen, load])
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key !== "?" || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      if (event.target instanceof Element && event.target.closest("input, textarea, select, dialog, [role=menu]")) return
      event.preventDefault()
      setOpen(true)
    }
    document.addEventListener("keydown", press)
    return () => document.removeEventListener("keydown", press)
  }, [])
  if (!isOpen) return null
  return (
    <Suspense fallback={null}>
      <KeysDialog own={own} onClose={() => setOpen(false)} />
    </Suspense>
  )
}
