/** Looking at earlier moments, from the palette, the menu and by a key. What is shown then is MomentView. */

import { navigate } from "wouter/use-browser-location"

import type { PanelSpec } from "../hooks/panel.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Icon } from "../ui/Icon.tsx"

export const panel: PanelSpec = {
  name: "moments",
  title: "Earlier moments",
  icon: <Icon name="clock" />,
  isHidden: true,
  render: () => null,
  actions: [
    {
      name: "moments.open",
      title: "Look at earlier moments",
      keys: ["Alt-T"],
      do: lookBack,
    },
    {
      name: "moments.review_run",
      title: "Review what was changed since the run",
      keys: [],
      when: ({ live }) => [...live.store.field("cells").values()].some((cell) => cell.after_run),
      do: (context) => void import("../sync/api_reviews.ts").then(({ goToReview }) => goToReview(context, { kind: "run", log: context.log })),
    },
  ],
}

function lookBack({ live }: PageContext): void {
  live.flush()
  navigate(`${location.pathname}?at=${live.store.field("seq")}`)
}
