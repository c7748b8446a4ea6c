/** The panel with the past of a cell and the conflicts with the file. */

import { useField } from "../hooks/values.ts"
import { lazyPanel } from "../hooks/lazy_panel.tsx"
import type { PanelSpec } from "../hooks/panel.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Icon } from "../ui/Icon.tsx"

export const panel: PanelSpec = {
  name: "history",
  title: "History of a cell",
  icon: <Icon name="history" />,
  render: lazyPanel(async () => (await import("./HistoryPanel.tsx")).HistoryPanel),
  badge: useConflictCount,
}

function useConflictCount({ live }: PageContext): number {
  return useField(live, "conflicts").size
}
