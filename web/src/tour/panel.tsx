/** The tour of four steps: shown once on the example notebook, and again when asked for. */

import { lazy, Suspense } from "react"

import type { PanelSpec } from "../hooks/panel.ts"
import { useValue } from "../hooks/values.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Icon } from "../ui/Icon.tsx"
import { tourOf } from "./tour_state.ts"

const Tour = lazy(() => import("./Tour.tsx"))

export const panel: PanelSpec = {
  name: "tour",
  title: "Tour",
  icon: <Icon name="question" />,
  isHidden: true,
  actions: [
    { name: "tour.start", title: "Show the tour", keys: [], when: ({ mayEdit, mayRun }) => mayEdit && mayRun, do: (context) => tourOf(context).start() },
  ],
  render: () => null,
  always: (context) => <TourHost context={context} />,
}

function TourHost({ context }: { readonly context: PageContext }) {
  const step = useValue(tourOf(context).step)
  if (step === null) return null
  return (
    <Suspense fallback={null}>
      <Tour context={context} step={step} />
    </Suspense>
  )
}
