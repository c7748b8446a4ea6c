/** The panel with the outline. */

import type { PanelSpec } from "../hooks/panel.ts"
import { Icon } from "../ui/Icon.tsx"
import { OutlinePanel } from "./OutlinePanel.tsx"

export const panel: PanelSpec = {
  name: "outline",
  title: "Outline",
  icon: <Icon name="outline" />,
  render: (context) => <OutlinePanel context={context} />,
}
