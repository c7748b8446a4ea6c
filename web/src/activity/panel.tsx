/** The panel of what was done in the notebook. */

import { lazyPanel } from "../hooks/lazy_panel.tsx"
import type { PanelSpec } from "../hooks/panel.ts"
import { Icon } from "../ui/Icon.tsx"

export const panel: PanelSpec = {
  name: "activity",
  title: "Activity",
  icon: <Icon name="clock" />,
  render: lazyPanel(async () => (await import("./ActivityPanel.tsx")).ActivityPanel),
}
