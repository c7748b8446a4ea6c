/** The panel of the runtime. */

import { lazyPanel } from "../hooks/lazy_panel.tsx"
import type { PanelSpec } from "../hooks/panel.ts"
import { Icon } from "../ui/Icon.tsx"

export const panel: PanelSpec = {
  name: "runtime",
  title: "Runtime",
  icon: <Icon name="kernel" />,
  render: lazyPanel(async () => (await import("./RuntimePanel.tsx")).RuntimePanel),
}
