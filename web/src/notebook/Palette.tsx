/** The palette: every action by a part of its name, and cells by theirs. */

import { useId, useMemo, useState } from "react"
import type { KeyboardEvent } from "react"
import type { Action } from "../actions/context.ts"
import { Dialog } from "../ui/Dialog.tsx"
import { Kbd } from "../ui/Kbd.tsx"
import { actionIcon } from "./menu_items.tsx"
import type { Page } from "./page.ts"
import styles from "./Palette.module.css"

interface Entry {
  readonly key: string
  readonly title: string
  readonly group: string
  readonly action: Action | null
  choose(): void
}

export default function Palette({ page, onClose }: { readonly page: Page; readonly onClose: () => void }) {
  const [text, setText] = useState("")
  const [chosen, setChosen] = useState(0)
  const id = useId()
  const all = useMemo(() => entries(page), [page])
  const found = useMemo(() => matching(all, text), [all, text])
  const choose = (entry: Entry | undefined): void => {
    if (!entry) return
    onClose()
    // After the dialog gave the focus back: what is done may move it.
    setTimeout(() => entry.choose())
  }
  const press = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setChosen((chosen + step + found.length) % Math.max(1, found.length))
    } else if (event.key === "Enter") {
      event.preventDefault()
      choose(found[chosen])
    }
  }
  return (
    <Dialog title="Find an action" isOpen onClose={onClose}>
      <input
        className={styles["field"]}
        role="combobox"
        aria-label="Find an action or a cell"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={found[chosen] ? `${id}-${chosen}` : undefined}
        data-autofocus
        autoComplete="off"
        spellCheck={false}
        value={text}
        onFocus={() => {
          const early = page.takeEarlyText()
          if (early) setText(early)
        }}
        onChange={(event) => {
          setText(event.target.value)
          setChosen(0)
        }}
        onKeyDown={press}
      />
      <ul id={`${id}-list`} role="listbox" aria-label="Actions" className={styles["list"]}>
        {found.map((entry, index) => (
          <Row key={entry.key} id={`${id}-${index}`} entry={entry} isChosen={index === chosen} onChoose={() => choose(entry)} />
        ))}
        {found.length === 0 && <li className={styles["none"]}>Nothing is called that.</li>}
      </ul>
    </Dialog>
  )
}

interface RowProps {
  readonly id: string
  readonly entry: Entry
  readonly isChosen: boolean
  readonly onChoose: () => void
}

function Row({ id, entry, isChosen, onChoose }: RowProps) {
  const keys = entry.action?.keys[0]
  return (
    <li
      id={id}
      role="option"
      aria-selected={isChosen}
      className={styles["row"]}
      ref={(element) => {
        if (isChosen) element?.scrollIntoView({ block: "nearest" })
      }}
      onClick={onChoose}
    >
      <span className={styles["icon"]}>{entry.action && actionIcon(entry.action)}</span>
      <span className={styles["title"]}>{entry.title}</span>
      <span className={styles["group"]}>{entry.group}</span>
      {keys !== undefined && <Kbd keys={keys} />}
    </li>
  )
}

function entries(page: Page): Entry[] {
  const actions = page.all
    .filter((each) => !each.isKeyOnly && each.when(page.actions))
    .map((each): Entry => ({ key: each.name, title: each.title, group: each.group, action: each, choose: () => each.do(page.actions) }))
  const notebook = page.live.store.get()
  const cells = page.view.order.flatMap((id): Entry[] => {
    const name = notebook.cells.get(id)?.name
    return name ? [{ key: id, title: name, group: "Cell", action: null, choose: () => page.goTo(id) }] : []
  })
  return [...actions, ...cells]
}

/** Those that have all the words, in any order; those that begin with the first word come first. */
function matching(all: readonly Entry[], text: string): readonly Entry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (!words.length) return all
  const found = all.filter(({ title, group }) => words.every((word) => `${title} ${group}`.toLowerCase().includes(word)))
  const begins = ({ title }: Entry): number => (title.toLowerCase().startsWith(words[0] ?? "") ? 0 : 1)
  return found.toSorted((one, other) => begins(one) - begins(other))
}
