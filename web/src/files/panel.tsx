/** The panel of files; dropping works whether it is open or not. */

import { lazyPanel } from "../hooks/lazy_panel.tsx"
import type { PanelSpec } from "../hooks/panel.ts"
import { Icon } from "../ui/Icon.tsx"
import { FileDrop } from "./FileDrop.tsx"

export const panel: PanelSpec = {
  name: "files",
  title: "Files",
  icon: <Icon name="file" />,
  render: lazyPanel(async () => (await import("./FilesPanel.tsx")).FilesPanel),
  always: (context) => <FileDrop context={context} />,
}
