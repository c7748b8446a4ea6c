/** What others changed since this person was here: a line above the cells, marks at them, and keys that walk them. */

import { lazy, Suspense } from "react"

import type { PanelSpec } from "../hooks/panel.ts"
import { Icon } from "../ui/Icon.tsx"
import { seenOf } from "../sync/seen.ts"
import { walk } from "./walk.ts"

const Watch = lazy(() => import("./SinceParts.tsx").then(({ SeenWatch }) => ({ default: SeenWatch })))
const Line = lazy(() => import("./SinceParts.tsx").then(({ SinceLine }) => ({ default: SinceLine })))
const Mark = lazy(() => import("./SinceParts.tsx").then(({ ChangeMark }) => ({ default: ChangeMark })))
const Difference = lazy(() => import("./SinceParts.tsx").then(({ CellDifference }) => ({ default: CellDifference })))

export const panel: PanelSpec = {
  name: "since",
  title: "Since you were here",
  icon: <Icon name="eye" />,
  isHidden: true,
  render: () => null,
  always: (context) => (
    <Suspense fallback={null}>
      <Watch context={context} />
    </Suspense>
  ),
  notice: (context) => (
    <Suspense fallback={null}>
      <Line context={context} />
    </Suspense>
  ),
  actions: [
    { name: "since.next", title: "Next change since you were here", keys: ["Alt-]"], do: (context) => walk(context, 1) },
    { name: "since.previous", title: "Previous change since you were here", keys: ["Alt-["], do: (context) => walk(context, -1) },
  ],
  slots: [
    {
      place: "gutter",
      cells: ({ live }) => seenOf(live).marked,
      render: (context, cell) => (
        <Suspense fallback={null}>
          <Mark context={context} cell={cell} />
        </Suspense>
      ),
    },
    {
      place: "above",
      cells: ({ live }) => seenOf(live).open,
      render: (context, cell) => (
        <Suspense fallback={null}>
          <Difference context={context} cell={cell} />
        </Suspense>
      ),
    },
  ],
}
