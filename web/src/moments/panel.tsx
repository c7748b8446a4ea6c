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
      do: (context) => void reviewRun(context),
    },
  ],
}

/** Show what was fixed in a run beside what ran, on a page on which it is discussed and proposed to the source. */
async function reviewRun({ live, log, parts, notify }: PageContext): Promise<void> {
  live.flush()
  try {
    const { openReview } = await import("../sync/api_reviews.ts")
    const review = await openReview(parts.api, { kind: "run", log })
    navigate(`/reviews/${encodeURIComponent(review.log)}`)
  } catch (error) {
    notify({ text: error instanceof Error ? error.message : String(error) })
  }
}

function lookBack({ live }: PageContext): void {
  live.flush()
  navigate(`${location.pathname}?at=${live.store.field("seq")}`)
}
