/** The panel of the runtime. */

import type { PanelSpec } from "../hooks/panel.ts"
import { Icon } from "../ui/Icon.tsx"
import { RuntimePanel } from "./RuntimePanel.tsx"

export const panel: PanelSpec = {
  name: "runtime",
  title: "Runtime",
  icon: <Icon name="kernel" />,
  render: (context) => <RuntimePanel context={context} />,
}
