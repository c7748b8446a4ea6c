/** The panel with the outline. */

import { lazyPanel } from "../hooks/lazy_panel.tsx"
import type { PanelSpec } from "../hooks/panel.ts"
import { Icon } from "../ui/Icon.tsx"

export const panel: PanelSpec = {
  name: "outline",
  title: "Outline",
  icon: <Icon name="outline" />,
  render: lazyPanel(async () => (await import("./OutlinePanel.tsx")).OutlinePanel),
}
