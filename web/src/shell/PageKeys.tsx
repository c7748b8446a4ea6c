/** The `?` sheet of pages that have no keys of their own: those that work everywhere, and those of a notebook. */

import { lazy, Suspense, useEffect, useState } from "react"

const KeysDialog = lazy(() => import("./KeysDialog.tsx"))

export function PageKeys() {
  const [isOpen, setOpen] = useState(false)
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
      <KeysDialog onClose={() => setOpen(false)} />
    </Suspense>
  )
}
