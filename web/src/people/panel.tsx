/** The panel of people, and what is done about agents: stopped from the palette, and told above the cells. */

import { lazy, Suspense } from "react"

import { lazyPanel } from "../hooks/lazy_panel.tsx"
import type { PanelSpec } from "../hooks/panel.ts"
import { useValue } from "../hooks/values.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Icon } from "../ui/Icon.tsx"
import { dialogsOf } from "./dialogs.ts"
import { PausedNotice } from "./PausedNotice.tsx"
import { isAgent, workersOf } from "./workers.ts"

const AgentDialogs = lazy(async () => ({ default: (await import("./AgentDialogs.tsx")).AgentDialogs }))

export const panel: PanelSpec = {
  name: "people",
  title: "People",
  icon: <Icon name="people" />,
  render: lazyPanel(async () => (await import("./PeoplePanel.tsx")).PeoplePanel),
  notice: (context) => <PausedNotice context={context} />,
  always: (context) => <OpenDialog context={context} />,
  actions: [
    {
      name: "people.stop",
      title: "Stop the agent: pause it, and interrupt what it runs…",
      keys: ["Alt-S"],
      when: ({ live }) => workersOf(live.store.get()).some(({ actor }) => isAgent(actor)),
      do: ({ live }) => dialogsOf(live).dialog.set({ kind: "pause", actor: null }),
    },
  ],
}

/** Loaded with the first dialog that is asked for. */
function OpenDialog({ context }: { readonly context: PageContext }) {
  const isAsked = useValue(dialogsOf(context.live).dialog) !== null
  if (!isAsked) return null
  return (
    <Suspense fallback={null}>
      <AgentDialogs context={context} />
    </Suspense>
  )
}
