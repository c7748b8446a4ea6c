/** The notebooks, by folder: name and file, state in words, who is there, who changed what last. */

import { memo, useState } from "react"

import type { NotebookSummary } from "../sync/api_types.ts"
import { Button } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Menu } from "../ui/Menu.tsx"
import type { MenuItem } from "../ui/Menu.tsx"
import { nameOf, Person } from "../ui/Person.tsx"
import { StateMark } from "../ui/StateMark.tsx"
import { Time } from "../ui/Time.tsx"
import rows from "../ui/Rows.module.css"
import { classes } from "../ui/classes.ts"
import css from "./Home.module.css"
import type { HomeDialog } from "./HomeDialogs.tsx"
import { byFolder, changeWords, notebookState } from "./overview.ts"
import type { Acts } from "./use_acts.ts"

export interface NotebookListProps {
  readonly notebooks: readonly NotebookSummary[]
  readonly me: string | undefined
  readonly filter: string
  readonly acts: Acts
  readonly setDialog: (dialog: HomeDialog) => void
}

export function NotebookList({ notebooks, me, filter, acts, setDialog }: NotebookListProps) {
  const [showsArchived, setShowsArchived] = useState(false)
  const current = notebooks.filter(({ archived }) => !archived)
  const archived = notebooks.filter((notebook) => notebook.archived)
  const listed = (shown: readonly NotebookSummary[]) =>
    shown.map((notebook) => <NotebookRow key={notebook.log} notebook={notebook} me={me} acts={acts} setDialog={setDialog} />)
  return (
    <section aria-labelledby="notebooks">
      {current.length === 0 && (
        <p className={rows["none"]}>{filter.trim() ? `No notebook is called “${filter.trim()}”. Esc clears the filter.` : "No notebooks but archived ones. N begins a new one."}</p>
      )}
      {byFolder(current).map(({ path, notebooks: inside }) => (
        <div key={path}>
          {path && (
            <h3 className={rows["folder"]}>
              <Icon name="folder" size={14} /> {path}/
            </h3>
          )}
          {inside.length > 0 && <ul className={rows["rows"]}>{listed(inside)}</ul>}
        </div>
      ))}
      {archived.length > 0 && (
        <>
          <div className={css["more"]}>
            <Button
              kind="quiet"
              icon={<Icon name={showsArchived ? "chevron-down" : "chevron-right"} />}
              pressed={showsArchived}
              onClick={() => setShowsArchived(!showsArchived)}
            >
              Archived ({archived.length})
            </Button>
          </div>
          {showsArchived && <ul className={rows["rows"]}>{listed(archived)}</ul>}
        </>
      )}
    </section>
  )
}

interface RowProps extends Pick<NotebookListProps, "me" | "acts" | "setDialog"> {
  readonly notebook: NotebookSummary
}

const NotebookRow = memo(function NotebookRow({ notebook, me, acts, setDialog }: RowProps) {
  const { log, name, file, changed } = notebook
  const { mark, words } = notebookState(notebook)
  return (
    <li className={classes(rows["row"], css["notebook"])} data-row data-archived={notebook.archived || undefined}>
      <span className={rows["kind"]}>{mark === "running" || mark === "error" ? <StateMark state={mark} text="" /> : <Icon name="notebook" />}</span>
      <span className={rows["title"]}>
        <a className={rows["link"]} href={`/notebooks/${encodeURIComponent(log)}`}>
          {name}
        </a>
        {file && <span className={rows["note"]}>{file}</span>}
      </span>
      <span className={classes(rows["fact"], css["state"])} data-mark={mark}>
        {words}
      </span>
      <Present actors={notebook.present} me={me} />
      <LastChange changed={changed} me={me} />
      <span className={css["menu"]}>
        <Menu label={`More for ${name}`} icon={<Icon name="more" />} align="end" items={rowItems(notebook, acts, setDialog)} />
      </span>
    </li>
  )
})

function rowItems(notebook: NotebookSummary, acts: Acts, setDialog: (dialog: HomeDialog) => void): readonly MenuItem[] {
  return [
    { label: "Open", icon: <Icon name="notebook" />, onSelect: () => acts.open(notebook.log) },
    { label: "Show its runs", icon: <Icon name="table" />, onSelect: () => acts.showRuns(notebook.log) },
    { label: "Rename…", icon: <Icon name="pencil" />, onSelect: () => setDialog({ kind: "rename", notebook }) },
    { label: "Duplicate", icon: <Icon name="duplicate" />, onSelect: () => acts.duplicate(notebook) },
    "separator",
    {
      label: notebook.archived ? "Take out of the archive" : "Archive",
      icon: <Icon name="archive" />,
      onSelect: () => acts.archive(notebook, !notebook.archived),
    },
  ]
}

/** What keeps notebooks and files the same acts by itself: the file is what a person knows. */
const MIRROR = "system:mirror"

function LastChange({ changed, me }: { readonly changed: NotebookSummary["changed"]; readonly me: string | undefined }) {
  const { actor, on_behalf_of: onBehalfOf, type, at } = changed
  if (actor !== MIRROR) {
    return (
      <span className={rows["fact"]}>
        <Person actor={actor} onBehalfOf={onBehalfOf} me={me} /> {changeWords(type)} · <Time at={at} />
      </span>
    )
  }
  return (
    <span className={rows["fact"]}>
      {type.startsWith("file_") ? "synced with its file" : "its file changed"} · <Time at={at} />
    </span>
  )
}

const MOST_PRESENT = 3

/** Who has the notebook open: a letter each. */
function Present({ actors, me }: { readonly actors: readonly string[]; readonly me: string | undefined }) {
  const others = [...new Set(actors)].filter((actor) => actor !== me)
  if (others.length === 0) return <span className={css["present"]} />
  const names = others.map(nameOf).join(", ")
  return (
    <span className={css["present"]} data-tip={`Here now: ${names}`}>
      {others.slice(0, MOST_PRESENT).map((actor) => (
        <span key={actor} className={css["letter"]} data-kind={actor.slice(0, actor.indexOf(":"))} aria-hidden="true">
          {nameOf(actor).slice(0, 1).toUpperCase()}
        </span>
      ))}
      {others.length > MOST_PRESENT && <span aria-hidden="true">+{others.length - MOST_PRESENT}</span>}
      <span className="visually-hidden">here now: {names}</span>
    </span>
  )
}
