/** What goes on while the notebook is open, whether the panel is or not: proposals are remembered, told and notified. */

import { useEffect, useState } from "react"
import { openProposals, whyNotAnswer } from "../core/proposals.ts"
import type { Proposal, ProposalId } from "../core/types.gen.ts"
import { visible } from "../core/visible.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { modelOf } from "./model.ts"
import { notices, showNotice } from "./notices.ts"
import { askedBy, noReason, verdictWords, wants } from "./words.ts"

export function Watch({ context }: { readonly context: PageContext }) {
  const [text, setText] = useState("")
  useEffect(() => {
    const model = modelOf(context)
    const { live, open } = context
    let before = live.store.field("proposals")
    model.look()
    return live.store.subscribe("proposals", () => {
      const notebook = live.store.get()
      const came = openProposals(notebook).filter(([id]) => !before.has(id))
      const ended = [...notebook.proposals].filter(([id, { state }]) => state !== "open" && before.get(id)?.state === "open")
      before = notebook.proposals
      model.look()
      const told = [...came.map(([, proposal]) => sentence(context, proposal)), ...ended.map(([, proposal]) => verdictWords(proposal, open.me.actor))]
      if (told.length) setText(told.join(". "))
      for (const [id, proposal] of came) if (whyNotAnswer(open.me, proposal) === null) notify(context, id, proposal)
    })
  }, [context])
  return (
    <div className="visually-hidden" role="status" aria-live="polite" data-proposals-announced>
      {text}
    </div>
  )
}

function sentence(context: PageContext, proposal: Proposal): string {
  const me = context.open.me.actor
  return `${askedBy(proposal, me)} ${wants(proposal)}: ${visible(proposal.why) || noReason(proposal, me)}`
}

function notify(context: PageContext, id: ProposalId, proposal: Proposal): void {
  if (!document.hidden || notices(context.parts.storage).state.get() !== "on") return
  const title = `${visible(context.live.store.get().name)} · Quire`
  showNotice(title, { body: sentence(context, proposal).slice(0, 300), tag: id }, () => context.openPanel("proposals", id))
}
