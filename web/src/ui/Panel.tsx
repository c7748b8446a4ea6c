/** The parts that panels of a rail are made of: sections, facts in two columns, notes. */

import { useId } from "react"
import type { ReactNode } from "react"

import { classes } from "./classes.ts"
import css from "./Panel.module.css"

/** All of a panel, below its title. */
export function PanelBody({ children }: { readonly children: ReactNode }) {
  return <div className={css["body"]}>{children}</div>
}

export interface PanelSectionProps {
  readonly title: string
  /** Small buttons beside the title. */
  readonly actions?: ReactNode
  readonly children: ReactNode
}

export function PanelSection({ title, actions, children }: PanelSectionProps) {
  const id = useId()
  return (
    <section className={css["section"]} aria-labelledby={id}>
      <header className={css["head"]}>
        <h3 id={id}>{title}</h3>
        {actions && <div className={css["actions"]}>{actions}</div>}
      </header>
      {children}
    </section>
  )
}

export interface PanelNoteProps {
  readonly kind?: "plain" | "error" | "warning" | undefined
  readonly children: ReactNode
}

/** A sentence about the panel: what is empty, what went wrong. Errors are read out. */
export function PanelNote({ kind = "plain", children }: PanelNoteProps) {
  return (
    <p className={classes(css["note"], css[kind])} role={kind === "error" ? "alert" : undefined}>
      {children}
    </p>
  )
}

export interface Fact {
  readonly name: string
  readonly value: ReactNode
}

/** Names and values, one row each. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl className={css["facts"]}>
      {facts.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Buttons in a row at the end of a section. */
export function PanelButtons({ children }: { readonly children: ReactNode }) {
  return <div className={css["buttons"]}>{children}</div>
}
