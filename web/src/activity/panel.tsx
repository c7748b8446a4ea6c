/** The panel of what was done in the notebook. */

import { lazy, Suspense } from "react"

import type { PanelSpec } from "../hooks/panel.ts"
import { Icon } from "../ui/Icon.tsx"

const ActivityPanel = lazy(() => import("./ActivityPanel.tsx").then((module) => ({ default: module.ActivityPanel })))

export const panel: PanelSpec = {
  name: "activity",
  title: "Activity",
  icon: <Icon name="clock" />,
  render: (context) => (
    <Suspense fallback={null}>
      <ActivityPanel context={context} />
    </Suspense>
  ),
}
