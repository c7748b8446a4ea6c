/** The list of proposals: those that wait, the oldest first, and those whose end was not looked at yet. */

import { useEffect } from "react"
import { useField, useValue } from "../hooks/values.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Button } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Kbd } from "../ui/Kbd.tsx"
import { EmptyState } from "../ui/EmptyState.tsx"
import { PanelBody, PanelNote } from "../ui/Panel.tsx"
import { Card } from "./Card.tsx"
import { modelOf } from "./model.ts"
import { notices } from "./notices.ts"
import css from "./Proposals.module.css"

export function ProposalsPanel({ context }: { readonly context: PageContext }) {
  const model = modelOf(context)
  useField(context.live, "proposals")
  useValue(model.seen)
  const asked = useValue(context.panelItem)
  useEffect(() => {
    if (asked?.panel === "proposals") model.show(asked.item)
  }, [asked, model])
  const cards = model.cards()
  return (
    <PanelBody>
      {cards.length === 0 ? (
        <EmptyState icon={<Icon name="pencil" />} title="No proposal waits">
          An agent whose token asks first, or <code>quire propose</code>, puts what it wants to change or run here, and waits for your yes. Nothing
          happens before. <a href="/settings">Make a token that asks first</a>.
        </EmptyState>
      ) : (
        <>
          <p className={css["keys"]}>
            <Kbd keys="Alt-P" /> next · <Kbd keys="Y" /> accept · <Kbd keys="N" /> decline · <Kbd keys="Space" /> choose a part
          </p>
          {cards.map((id) => (
            <Card key={id} context={context} id={id} />
          ))}
        </>
      )}
      <NotifyMe context={context} />
    </PanelBody>
  )
}

/** Ask for the browser's permission only when somebody wants to be notified. */
function NotifyMe({ context }: { readonly context: PageContext }) {
  const { state, turn } = notices(context.parts.storage)
  const now = useValue(state)
  if (now === "impossible") return null
  return (
    <div className={css["notify"]}>
      <Button kind="quiet" pressed={now === "on"} icon={<Icon name="bell" size={14} />} onClick={() => void turn()}>
        {now === "on" ? "Notifying you" : "Notify me"}
      </Button>
      {now === "blocked" ? (
        <PanelNote>This browser blocks notifications of this page. Allow them in its settings for this address.</PanelNote>
      ) : (
        <PanelNote>A notification of the browser when a proposal arrives and this page is hidden.</PanelNote>
      )}
    </div>
  )
}
