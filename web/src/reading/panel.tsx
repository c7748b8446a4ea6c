/** The way to the reading view, from the palette and the menu. */

import { navigate } from "wouter/use-browser-location"

import type { PanelSpec } from "../hooks/panel.ts"
import { Icon } from "../ui/Icon.tsx"

export const panel: PanelSpec = {
  name: "reading",
  title: "Reading view",
  icon: <Icon name="eye" />,
  isHidden: true,
  render: () => null,
  actions: [{ name: "reading.open", title: "Open the reading view", keys: [], do: ({ log }) => navigate(`/read/${encodeURIComponent(log)}`) }],
}
