/** Which of the dialogs of sharing is open on a page. */

import type { PageContext } from "../sync/notebook_page.ts"
import { Value } from "../sync/store.ts"

export type OpenDialog = "people" | "agent" | null

const values = new WeakMap<PageContext, Value<OpenDialog>>()

export function dialogOf(context: PageContext): Value<OpenDialog> {
  let value = values.get(context)
  if (!value) {
    value = new Value<OpenDialog>(null)
    values.set(context, value)
  }
  return value
}
