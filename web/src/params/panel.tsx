/** The panel of parameters, and the line above their cell. */

import { lazyPanel } from "../hooks/lazy_panel.tsx"
import type { PanelSpec } from "../hooks/panel.ts"
import { Icon } from "../ui/Icon.tsx"
import { ParametersBar } from "./ParametersBar.tsx"

export const panel: PanelSpec = {
  name: "parameters",
  title: "Parameters",
  icon: <Icon name="parameters" />,
  render: lazyPanel(async () => (await import("./ParametersPanel.tsx")).ParametersPanel),
  aboveCell: (context, { tags, kind }) =>
    kind === "code" && tags.includes("parameters") ? <ParametersBar context={context} /> : null,
}
