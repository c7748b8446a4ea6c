/** Notebooks as files that the browser saves. */

import type { ExportFormat } from "../sync/api_types.ts"
import { Fault } from "../sync/fault.ts"
import type { PageContext } from "../sync/notebook_page.ts"

export interface Download {
  readonly format: ExportFormat
  readonly title: string
  readonly about: string
  /** Whether comments are on the page: for notebooks that have some. */
  readonly comments?: true
}

export const FORMATS: readonly Download[] = [
  { format: "ipynb", title: "Jupyter", about: ".ipynb, with outputs" },
  { format: "py", title: "Python", about: ".py, for editors and review" },
  { format: "md", title: "Markdown", about: ".md, a logbook" },
  { format: "html", title: "Web page", about: ".html, to read anywhere" },
  { format: "html", title: "Web page", about: ".html, with comments", comments: true },
  { format: "quire", title: "Quire", about: ".quire, with all of its history" },
]

/** How long a browser may take to begin saving. */
const KEPT_MILLISECONDS = 60_000

export async function downloadAs(context: PageContext, { format, comments }: Download): Promise<void> {
  const { live, parts, log } = context
  live.flush()
  try {
    const { name, blob } = await parts.api.export(log, format, comments ? { comments } : {})
    const link = document.createElement("a")
    link.href = URL.createObjectURL(blob)
    link.download = name
    link.click()
    parts.clock.after(KEPT_MILLISECONDS, () => URL.revokeObjectURL(link.href))
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    context.notify({ text: `Not downloaded. ${error.message}` })
  }
}
