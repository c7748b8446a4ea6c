/** The line at the top: where one is, running, the mode, who is here, the runtime, what waits, panels, menu. */

import { useState } from "react"
import type { KeyboardEvent, ReactNode } from "react"
import { action } from "../actions/table.ts"
import { useField, useValue } from "../hooks/values.ts"
import { Icon } from "../ui/Icon.tsx"
import { IconButton } from "../ui/IconButton.tsx"
import { Kbd } from "../ui/Kbd.tsx"
import { Mark } from "../ui/Mark.tsx"
import { Menu } from "../ui/Menu.tsx"
import type { MenuItem } from "../ui/Menu.tsx"
import { download } from "./download.ts"
import { menuItem } from "./menu_items.tsx"
import { PanelButtons } from "./PanelButtons.tsx"
import { PeopleHere } from "./PeopleHere.tsx"
import { RuntimeState } from "./RuntimeState.tsx"
import type { Page } from "./page.ts"
import styles from "./Header.module.css"
import { WaitingMenu } from "./WaitingMenu.tsx"

export interface HeaderProps {
  readonly page: Page
  /** What panels put there. */
  readonly extras: ReactNode
  readonly children: ReactNode
}

export function Header({ page, extras, children }: HeaderProps) {
  return (
    <header className={styles["header"]}>
      <a className={styles["mark"]} href="/" aria-label="Quire: all notebooks" data-tip="All notebooks">
        <Mark />
      </a>
      <NotebookName page={page} />
      <RunControls page={page} />
      {page.mayEdit && <ModeShown page={page} />}
      <span className={styles["space"]} data-space />
      <PeopleHere page={page} />
      <RuntimeState page={page} />
      <WaitingMenu page={page} />
      {extras}
      <PanelButtons page={page}>{children}</PanelButtons>
      <Menu label="Notebook menu" icon={<Icon name="more" />} align="end" items={() => notebookMenu(page)} />
    </header>
  )
}

function NotebookName({ page }: { readonly page: Page }) {
  const name = useField(page.live, "name")
  const binding = useField(page.live, "binding")
  const run = useField(page.live, "run")
  const [draft, setDraft] = useState<string | null>(null)
  const folder = binding?.path.includes("/") ? binding.path.slice(0, binding.path.lastIndexOf("/") + 1) : ""
  const rename = (): void => {
    const text = draft?.trim() ?? ""
    setDraft(null)
    if (text && text !== name) page.live.act([{ type: "notebook_renamed", name: text }], (outcome) => page.tellRefused(outcome))
  }
  const press = (event: KeyboardEvent<HTMLInputElement>): void => {
    if (event.key === "Enter") event.currentTarget.blur()
    else if (event.key === "Escape") setDraft(null)
  }
  return (
    <div className={styles["name"]} data-name>
      {run && <span className={styles["path"]}>Run of </span>}
      {folder && <span className={styles["path"]}>{folder}</span>}
      {page.mayEdit && !run ? (
        <input
          aria-label="Name of the notebook"
          value={draft ?? name}
          size={Math.max(4, (draft ?? name).length)}
          onChange={(event) => setDraft(event.target.value)}
          onBlur={rename}
          onKeyDown={press}
          data-notebook-name
          data-tip={binding ? `Bound to ${binding.path}` : undefined}
        />
      ) : (
        <h1>{name}</h1>
      )}
    </div>
  )
}

function RunControls({ page }: { readonly page: Page }) {
  const executions = useField(page.live, "executions")
  const isBusy = executions.size > 0
  if (!page.mayRun) return null
  return (
    <div className={styles["controls"]} role="group" aria-label="Run">
      <IconButton label="Run and go on" icon={<Icon name="play" />} keys="Shift-Enter" onClick={() => page.doNamed("run.advance")} />
      <IconButton label="Interrupt" icon={<Icon name="stop" />} keys="I I" disabled={!isBusy} onClick={() => page.doNamed("run.interrupt")} />
      <Menu label="More ways to run" icon={<Icon name="chevron-down" size={12} />} items={() => RUN_MENU.map((name) => item(page, name))} />
    </div>
  )
}

const RUN_MENU = ["run.all", "run.above", "run.below", "run.stale", "-", "run.interrupt", "run.cancel", "run.restart", "run.restart_all"]

function item(page: Page, name: string): MenuItem {
  return name === "-" ? "separator" : menuItem(page, action(name, page.all))
}

/** Which mode keys are in, in a word: letters are commands in one and text in the other. */
function ModeShown({ page }: { readonly page: Page }) {
  const mode = useValue(page.view.mode)
  const begun = useValue(page.keyboard.begun)
  const word = mode === "edit" ? "Edit" : "Command"
  const hints = begun
    ? begun.next.map(({ keys, action }) => ({ keys, does: action.title }))
    : [mode === "edit" ? { keys: "Esc", does: "commands" } : { keys: "Enter", does: "edit" }]
  const label = begun ? `${begun.keys} pressed, then ${hints.map(({ keys, does }) => `${keys}: ${does}`).join(", ")}` : `${word} mode`
  return (
    <span className={styles["mode"]} data-mode={mode} role="status" aria-label={label}>
      <b>{begun ? `${begun.keys} …` : word}</b>
      {hints.map(({ keys, does }) => (
        <span key={keys} className={styles["hint"]}>
          <Kbd keys={keys} /> {does}
        </span>
      ))}
    </span>
  )
}

const FORMATS = [
  ["ipynb", "Jupyter (.ipynb)"],
  ["py", "Python (.py)"],
  ["md", "Markdown (.md)"],
  ["html", "Web page (.html)"],
  ["quire", "Whole history (.quire)"],
] as const

function notebookMenu(page: Page): MenuItem[] {
  const notebook = ["notebook.rename", "view.palette", "view.keys"].map((name) => item(page, name))
  const exports = FORMATS.map(([format, label]): MenuItem => ({
    label: `Download as ${label}`,
    icon: <Icon name="download" size={14} />,
    onSelect: () => void download(page, format),
  }))
  if (page.live.store.field("comments").size > 0) {
    exports.push({
      label: "Download as Web page with comments",
      icon: <Icon name="download" size={14} />,
      onSelect: () => void download(page, "html", { comments: true }),
    })
  }
  const cells = ["edit.undo", "edit.redo"].map((name) => item(page, name))
  const running = RUN_MENU.filter((name) => name !== "-").map((name) => item(page, name))
  const panels = page.all.filter(({ group }) => group === "Panels").map((each) => menuItem(page, each))
  return [...notebook, "separator", ...panels, "separator", ...cells, "separator", ...running, "separator", ...exports, "separator", ...links()]
}

function links(): MenuItem[] {
  return [
    { label: "All notebooks", icon: <Icon name="notebook" size={14} />, onSelect: () => location.assign("/") },
    { label: "Settings", icon: <Icon name="gear" size={14} />, onSelect: () => location.assign("/settings") },
  ]
}
