/** Images that are pasted into or dropped onto a Markdown cell: they become attachments of it, as Jupyter keeps them. */

import { attachmentsOf, withAttachments } from "../actions/cell_edits.ts"
import { pointLength } from "../core/points.ts"
import type { CellId, JsonObject } from "../core/types.gen.ts"
import type { Page } from "./page.ts"

/** An event has at most 16 MiB, and Base64 takes a third more. */
const MOST_BYTES = 8 * 1024 * 1024
const EXTENSIONS: Readonly<Record<string, string>> = { "image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp" }

/** Attach the images among `files`. Returns whether there were any. */
export function attachFiles(page: Page, id: CellId, files: readonly File[]): boolean {
  const cell = page.live.store.cell(id)
  const images = files.filter((file) => file.type in EXTENSIONS)
  if (cell?.kind !== "markdown" || !images.length || !page.mayEdit) return false
  const tooLarge = images.filter((file) => file.size > MOST_BYTES)
  if (tooLarge.length) page.notify({ text: `${tooLarge[0]?.name ?? "The image"} has more than 8 MB. Put it beside the notebook instead.` })
  void Promise.all(images.filter((file) => !tooLarge.includes(file)).map(read)).then((read) => attach(page, id, read))
  return true
}

interface Image {
  readonly name: string
  readonly media: string
  readonly base64: string
}

async function read(file: File): Promise<Image> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  let text = ""
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000))
  return { name: file.name || `image.${EXTENSIONS[file.type] ?? "png"}`, media: file.type, base64: btoa(text) }
}

function attach(page: Page, id: CellId, images: readonly Image[]): void {
  page.live.flush()
  const cell = page.live.store.cell(id)
  if (!cell || !images.length) return
  const attachments: Record<string, JsonObject> = { ...(attachmentsOf(cell) as Record<string, JsonObject>) }
  let text = ""
  for (const image of images) {
    const name = freeName(image.name, attachments)
    attachments[name] = { [image.media]: image.base64 }
    text += `![${name.replace(/\.[^.]*$/, "")}](attachment:${name})\n`
  }
  const at = page.view.edited === id ? (page.place?.position ?? pointLength(cell.source)) : pointLength(cell.source)
  const seam = at > 0 && page.view.edited !== id && !cell.source.endsWith("\n") ? "\n" : ""
  page.history.do("Attached images", [
    withAttachments(cell, attachments),
    { type: "source_edited", cell: id, edit: [[at, 0, seam + text]] },
  ])
}

/** A name that no attachment has, without what Markdown would read as the end of an address. */
function freeName(wanted: string, taken: Readonly<Record<string, unknown>>): string {
  const clean = wanted.replace(/[\s()<>\\"']+/g, "-")
  const dot = clean.lastIndexOf(".")
  const [stem, end] = dot > 0 ? [clean.slice(0, dot), clean.slice(dot)] : [clean, ""]
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? clean : `${stem}-${number}${end}`
    if (!Object.hasOwn(taken, name)) return name
  }
}
