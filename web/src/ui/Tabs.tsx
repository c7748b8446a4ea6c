/** Tabs: arrows go from one to the next, Tab goes into what is shown. */

import { useId } from "react"
import type { KeyboardEvent, ReactNode } from "react"

import css from "./Tabs.module.css"

export interface Tab {
  readonly name: string
  readonly title: ReactNode
}

export interface TabsProps {
  readonly label: string
  readonly tabs: readonly Tab[]
  readonly selected: string
  readonly children: ReactNode
  readonly onSelect: (name: string) => void
}

export function Tabs({ label, tabs, selected, children, onSelect }: TabsProps) {
  const id = useId()
  const move = (event: KeyboardEvent<HTMLElement>): void => {
    const index = tabs.findIndex(({ name }) => name === selected)
    const next = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: tabs.length - 1 }[event.key]
    if (next === undefined) return
    event.preventDefault()
    const tab = tabs[(next + tabs.length) % tabs.length]
    if (!tab) return
    onSelect(tab.name)
    document.getElementById(`${id}-${tab.name}`)?.focus()
  }
  return (
    <>
      <div className={css["list"]} role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map(({ name, title }) => (
          <button
            key={name}
            id={`${id}-${name}`}
            type="button"
            role="tab"
            className={css["tab"]}
            aria-selected={name === selected}
            aria-controls={`${id}-panel`}
            tabIndex={name === selected ? 0 : -1}
            onClick={() => onSelect(name)}
          >
            {title}
          </button>
        ))}
      </div>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${selected}`} tabIndex={0} className={css["panel"]}>
        {children}
      </div>
    </>
  )
}
