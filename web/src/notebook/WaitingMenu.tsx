/** What waits for an answer in this notebook: proposals, conflicts with the file, cells that ask, comments to this person. */

import { useMemo } from "react"
import { awaits, threads } from "../core/comments.ts"
import { openProposals, whyNotAnswer } from "../core/proposals.ts"
import { visible } from "../core/visible.ts"
import { useField, useValue } from "../hooks/values.ts"
import { Icon } from "../ui/Icon.tsx"
import { Menu } from "../ui/Menu.tsx"
import type { MenuItem } from "../ui/Menu.tsx"
import { nameOf } from "../ui/Person.tsx"
import type { Page } from "./page.ts"
import styles from "./Header.module.css"
import { cellLabel } from "./words.ts"

export function WaitingMenu({ page }: { readonly page: Page }) {
  const proposals = useField(page.live, "proposals")
  const conflicts = useField(page.live, "conflicts")
  const executions = useField(page.live, "executions")
  const asked = useValue(page.lanes.prompts)
  const prompts = [...asked.values()].filter(({ execution }) => executions.has(execution))
  const open = openProposals({ proposals }).filter(([, proposal]) => whyNotAnswer(page.open.me, proposal) === null)
  const comments = useField(page.live, "comments")
  const mine = useMemo(() => threads(comments).filter((thread) => thread.isOpen && awaits(thread, page.open.me.actor)), [comments, page])
  const count = open.length + conflicts.size + prompts.length + mine.length
  if (count === 0) return null
  const items = (): MenuItem[] => {
    const notebook = page.live.store.get()
    return [
      ...prompts.map(({ execution, prompt }): MenuItem => {
        const cell = notebook.executions.get(execution) ?? ""
        return { label: `${cellLabel(notebook, cell)} asks: ${prompt}`, onSelect: () => setTimeout(() => page.goTo(cell)) }
      }),
      ...[...conflicts.values()].map(({ cell }): MenuItem => ({
        label: `${cellLabel(notebook, cell)}: the file says something else`,
        onSelect: () =>
          setTimeout(() => {
            page.goTo(cell)
            if (page.hasPanel("history")) page.openPanel("history")
          }),
      })),
      ...open.map(([id, { by, why }]): MenuItem => ({
        label: `${nameOf(by)} proposes: ${visible(why)}`,
        disabled: !page.hasPanel("proposals"),
        onSelect: () => setTimeout(() => page.openPanel("proposals", id)),
      })),
      ...mine.map(({ cell, comments: said }): MenuItem => {
        const last = [...said.values()].findLast(({ by }) => by !== page.open.me.actor)
        return {
          label: `${nameOf(last?.by ?? "")} comments: ${visible(last?.text ?? "")}`,
          onSelect: () => setTimeout(() => (cell === null ? page.openPanel("comments") : page.goTo(cell))),
        }
      }),
    ]
  }
  return (
    <Menu label={`Waiting: ${count}`} align="end" items={items}>
      <Icon name="bell" size={14} />
      <span className={styles["waiting"]} data-waiting>
        <span>Waiting </span>({count})
      </span>
    </Menu>
  )
}
