/** Files that the page hands to the browser. */

import type { ExportFormat } from "../sync/api_types.ts"
import { Fault } from "../sync/fault.ts"
import type { Page } from "./page.ts"

export async function download(page: Page, format: ExportFormat, options: { readonly comments?: boolean } = {}): Promise<void> {
  page.live.flush()
  try {
    const { name, blob } = await page.parts.api.export(page.log, format, options)
    const link = document.createElement("a")
    link.href = URL.createObjectURL(blob)
    link.download = name
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    page.notify({ text: `Not downloaded. ${error.message}` })
  }
}
