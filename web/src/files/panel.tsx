/** The panel of files; dropping works whether it is open or not. */

import type { PanelSpec } from "../hooks/panel.ts"
import { Icon } from "../ui/Icon.tsx"
import { FileDrop } from "./FileDrop.tsx"
import { FilesPanel } from "./FilesPanel.tsx"

export const panel: PanelSpec = {
  name: "files",
  title: "Files",
  icon: <Icon name="file" />,
  render: (context) => <FilesPanel context={context} />,
  always: (context) => <FileDrop context={context} />,
}
