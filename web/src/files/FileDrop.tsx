/** Files that are dropped onto the page land beside the notebook. While one is dragged over it, the page says so. */

import { useEffect, useState } from "react"

import type { PageContext } from "../sync/notebook_page.ts"
import { Icon } from "../ui/Icon.tsx"
import css from "./Files.module.css"
import { uploadFiles } from "./upload.ts"

export function FileDrop({ context }: { readonly context: PageContext }) {
  const [isOver, setOver] = useState(false)
  useEffect(() => {
    // Also of those who may not: the browser would leave the page for the file.
    return watchDrops(setOver, (files) => {
      if (context.mayEdit) void uploadFiles(context, files)
      else context.notify({ text: "You may read this notebook, not add files to it." })
    })
  }, [context])
  if (!isOver) return null
  return (
    <div className={css["drop"]} role="status">
      <Icon name="upload" size={24} />
      Drop files to put them beside the notebook
    </div>
  )
}

function watchDrops(setOver: (isOver: boolean) => void, drop: (files: readonly File[]) => void): () => void {
  // A drag that leaves one element and enters another says both: the page is left when nothing is entered.
  let depth = 0
  const isFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") === true
  const enter = (event: DragEvent): void => {
    if (!isFiles(event)) return
    depth += 1
    setOver(true)
  }
  const leave = (event: DragEvent): void => {
    if (!isFiles(event)) return
    depth = Math.max(0, depth - 1)
    if (depth === 0) setOver(false)
  }
  const over = (event: DragEvent): void => {
    if (isFiles(event)) event.preventDefault()
  }
  const dropped = (event: DragEvent): void => {
    depth = 0
    setOver(false)
    // A Markdown cell takes images itself.
    if (!isFiles(event) || event.defaultPrevented) return
    event.preventDefault()
    drop([...(event.dataTransfer?.files ?? [])])
  }
  addEventListener("dragenter", enter)
  addEventListener("dragleave", leave)
  addEventListener("dragover", over)
  addEventListener("drop", dropped)
  return () => {
    removeEventListener("dragenter", enter)
    removeEventListener("dragleave", leave)
    removeEventListener("dragover", over)
    removeEventListener("drop", dropped)
  }
}
