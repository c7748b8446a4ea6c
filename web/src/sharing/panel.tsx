/** Sharing: a button in the header and two dialogs, loaded when one is opened. */

import { lazy, Suspense } from "react"

import type { PanelSpec } from "../hooks/panel.ts"
import { useValue } from "../hooks/values.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Button } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { dialogOf } from "./dialog_state.ts"
import css from "./Share.module.css"

const SharingDialog = lazy(() => import("./SharingDialog.tsx"))
const AgentDialog = lazy(() => import("./AgentDialog.tsx"))

const isNotebook = ({ live }: PageContext): boolean => live.store.field("run") === null

export const panel: PanelSpec = {
  name: "sharing",
  title: "Share",
  icon: <Icon name="people" />,
  isHidden: true,
  actions: [
    { name: "sharing.people", title: "Share: people, agents and roles…", keys: [], when: isNotebook, do: (context) => dialogOf(context).set("people") },
    { name: "sharing.agent", title: "Let an agent in…", keys: [], when: isNotebook, do: (context) => dialogOf(context).set("agent") },
  ],
  render: () => null,
  header: (context) => (isNotebook(context) ? <ShareButton context={context} /> : null),
  always: (context) => <Dialogs context={context} />,
}

function ShareButton({ context }: { readonly context: PageContext }) {
  return (
    <span className={css["share"]} data-share>
      <Button icon={<Icon name="people" size={14} />} title="Who may do what here" onClick={() => dialogOf(context).set("people")}>
        <span className={css["word"]}>Share</span>
      </Button>
    </span>
  )
}

function Dialogs({ context }: { readonly context: PageContext }) {
  const open = useValue(dialogOf(context))
  if (open === null) return null
  const Shown = open === "agent" ? AgentDialog : SharingDialog
  return (
    <Suspense fallback={null}>
      <Shown context={context} />
    </Suspense>
  )
}
