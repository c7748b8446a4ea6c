/** The panel of parameters, and the line above their cell. */

import type { PanelSpec } from "../hooks/panel.ts"
import { Icon } from "../ui/Icon.tsx"
import { ParametersBar } from "./ParametersBar.tsx"
import { ParametersPanel } from "./ParametersPanel.tsx"

export const panel: PanelSpec = {
  name: "parameters",
  title: "Parameters",
  icon: <Icon name="parameters" />,
  render: (context) => <ParametersPanel context={context} />,
  aboveCell: (context, { tags, kind }) =>
    kind === "code" && tags.includes("parameters") ? <ParametersBar context={context} /> : null,
}
