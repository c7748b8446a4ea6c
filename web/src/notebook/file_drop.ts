/** Images that are dropped onto or pasted into text become its attachments. All other files are left to who listens next. */

import { attachFiles } from "./attachments.ts"
import type { Page } from "./page.ts"

export function listenForFiles(page: Page): () => void {
  const over = (event: DragEvent): void => {
    if (!hasFiles(event.dataTransfer)) return
    event.preventDefault()
    if (event.dataTransfer) event.dataTransfer.dropEffect = page.mayEdit ? "copy" : "none"
  }
  const drop = (event: DragEvent): void => {
    if (event.defaultPrevented || !hasFiles(event.dataTransfer)) return
    const cell = cellAt(event.target)
    const files = [...(event.dataTransfer?.files ?? [])]
    if (page.mayEdit && cell !== null && attachFiles(page, cell, files)) event.preventDefault()
  }
  const paste = (event: ClipboardEvent): void => {
    const files = [...(event.clipboardData?.files ?? [])]
    const focus = page.focused()
    if (event.defaultPrevented || !files.length || focus === null || page.view.mode.get() === "edit") return
    if (attachFiles(page, focus, files)) event.preventDefault()
  }
  addEventListener("dragover", over)
  addEventListener("drop", drop)
  addEventListener("paste", paste)
  return () => {
    removeEventListener("dragover", over)
    removeEventListener("drop", drop)
    removeEventListener("paste", paste)
  }
}

function hasFiles(data: DataTransfer | null): boolean {
  return data?.types.includes("Files") ?? false
}

function cellAt(target: EventTarget | null): string | null {
  const row = target instanceof Element ? target.closest<HTMLElement>("[data-cell]") : null
  return row?.dataset["cell"] ?? null
}
