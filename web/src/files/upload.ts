/** Data files that are put beside the notebook: never over another one. */

import { liveCells } from "../core/notebook.ts"
import { newCell } from "../sync/browser.ts"
import { Fault } from "../sync/fault.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { nextName, pathBeside, readingCode } from "./snippets.ts"

const MOST_NAMES = 20

/** Upload files one after the other, and tell where they are. */
export async function uploadFiles(context: PageContext, files: readonly File[]): Promise<void> {
  for (const file of files) {
    try {
      const path = await uploadOne(context, file)
      const action = context.mayEdit ? { label: "Insert code to read it", do: () => insertCode(context, path) } : undefined
      context.notify({ text: `${file.name} is at ${path}.`, ...(action ? { action } : {}) })
    } catch (error) {
      const why = error instanceof Fault ? error.message : `It cannot be read: ${String(error)}`
      context.notify({ text: `${file.name} is not uploaded. ${why}` })
    }
  }
}

async function uploadOne({ parts, live }: PageContext, file: File): Promise<string> {
  const wanted = pathBeside(live.store.field("binding")?.path ?? null, file.name)
  const bytes = new Uint8Array(await file.arrayBuffer())
  for (let number = 1; ; number += 1) {
    try {
      const { path } = await parts.api.upload(number === 1 ? wanted : nextName(wanted, number), bytes)
      return path
    } catch (error) {
      // A file of that name is there: this one gets a number.
      if (!(error instanceof Fault) || error.kind !== "Conflict" || number === MOST_NAMES) throw error
    }
  }
}

/** Put a cell that reads the file behind the focused one. */
function insertCode(context: PageContext, path: string): void {
  const { live } = context
  const after = context.focused() ?? liveCells(live.store.get()).at(-1)?.id ?? null
  const cell = newCell(live.store.field("cells").keys())
  live.act([{ type: "cell_added", cell, after, kind: "code", source: readingCode(path) }])
  context.goTo(cell)
}
