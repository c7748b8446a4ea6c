/** The panel of people. */

import type { PanelSpec } from "../hooks/panel.ts"
import { Icon } from "../ui/Icon.tsx"
import { PeoplePanel } from "./PeoplePanel.tsx"

export const panel: PanelSpec = {
  name: "people",
  title: "People",
  icon: <Icon name="people" />,
  render: (context) => <PeoplePanel context={context} />,
}
