/** The dialog about an actor that is open on the page, if one is. */

import { useValue } from "../hooks/values.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { dialogsOf } from "./dialogs.ts"
import { PauseDialog } from "./PauseDialog.tsx"
import { UndoDialog } from "./UndoDialog.tsx"

export function AgentDialogs({ context }: { readonly context: PageContext }) {
  const { dialog } = dialogsOf(context.live)
  const asked = useValue(dialog)
  const close = (): void => dialog.set(null)
  if (asked === null) return null
  if (asked.kind === "undo") return <UndoDialog context={context} actor={asked.actor} onClose={close} />
  return <PauseDialog context={context} actor={asked.actor} onClose={close} />
}
