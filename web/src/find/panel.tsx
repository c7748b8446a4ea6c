/** The panel that finds and replaces. */

import { lazyPanel } from "../hooks/lazy_panel.tsx"
import type { PanelSpec } from "../hooks/panel.ts"
import { Icon } from "../ui/Icon.tsx"

export const panel: PanelSpec = {
  name: "find",
  title: "Find",
  icon: <Icon name="search" />,
  key: "Mod-F",
  render: lazyPanel(() => import("./FindPanel.tsx").then((module) => module.FindPanel)),
}
