/** The panel that finds and replaces. */

import type { PanelSpec } from "../hooks/panel.ts"
import { Icon } from "../ui/Icon.tsx"
import { FindPanel } from "./FindPanel.tsx"

export const panel: PanelSpec = {
  name: "find",
  title: "Find",
  icon: <Icon name="search" />,
  key: "Mod-F",
  render: (context) => <FindPanel context={context} />,
}
