/** End a pause, and say so. */

import { resume } from "../sync/api_pauses.ts"
import type { Paused } from "../sync/api_pauses.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { pausesOf } from "../sync/pauses.ts"
import { nameOf } from "../ui/Person.tsx"

export async function letGo({ parts, notify }: PageContext, { actor, token }: Paused): Promise<void> {
  try {
    await resume(parts.api, token === null ? { actor } : { token })
    notify({ text: `${nameOf(actor)} may go on.` })
  } catch (error) {
    notify({ text: error instanceof Error ? error.message : String(error) })
  }
  await pausesOf(parts).read()
}
