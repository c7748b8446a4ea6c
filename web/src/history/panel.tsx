/** The panel with the past of a cell and the conflicts with the file. */

import { useField } from "../hooks/values.ts"
import type { PanelSpec } from "../hooks/panel.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Icon } from "../ui/Icon.tsx"
import { HistoryPanel } from "./HistoryPanel.tsx"

export const panel: PanelSpec = {
  name: "history",
  title: "History of a cell",
  icon: <Icon name="history" />,
  render: (context) => <HistoryPanel context={context} />,
  badge: useConflictCount,
}

function useConflictCount({ live }: PageContext): number {
  return useField(live, "conflicts").size
}
