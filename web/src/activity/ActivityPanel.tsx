/** What was done in the notebook, the newest first, by whom and what; each line leads to its cells and to its moment. */

import { useEffect, useMemo, useState } from "react"

import { cellLabel } from "../core/cell_label.ts"
import type { ActorId, CellId, Notebook } from "../core/types.gen.ts"
import { visible } from "../core/visible.ts"
import { useField, useValue } from "../hooks/values.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { readActivity } from "../sync/api_activity.ts"
import type { ActivityKind, ActivityLine } from "../sync/api_activity.ts"
import { seenOf } from "../sync/seen.ts"
import { Button } from "../ui/Button.tsx"
import { EmptyState } from "../ui/EmptyState.tsx"
import { SelectField } from "../ui/Field.tsx"
import { PanelBody, PanelNote } from "../ui/Panel.tsx"
import { nameOf, Person } from "../ui/Person.tsx"
import { Time } from "../ui/Time.tsx"
import css from "./Activity.module.css"
import { ActivityFeed } from "./feed.ts"
import { lineWords } from "./words.ts"
import type { Piece } from "./words.ts"

const KINDS: readonly { readonly value: ActivityKind | ""; readonly label: string }[] = [
  { value: "", label: "Everything" },
  { value: "edits", label: "Edits" },
  { value: "runs", label: "Runs" },
  { value: "proposals", label: "Proposals" },
  { value: "comments", label: "Comments" },
  { value: "files", label: "Files" },
  { value: "kernel", label: "Kernel" },
]

export function ActivityPanel({ context }: { readonly context: PageContext }) {
  const [kind, setKind] = useState<ActivityKind | "">("")
  const [who, setWho] = useState<ActorId>("")
  const feed = useFeed(context, kind, who)
  const { lines, before, isLoading, fault } = useValue(feed.loaded)
  const people = usePeople(context, lines)
  const isFiltered = kind !== "" || who !== ""
  return (
    <PanelBody>
      <div className={css["filters"]}>
        <SelectField label="Who" value={who} onChange={(event) => setWho(event.target.value)} choices={people} />
        <SelectField label="What" value={kind} onChange={(event) => setKind(event.target.value as ActivityKind | "")} choices={KINDS} />
      </div>
      {fault !== null && <PanelNote kind="error">{fault}</PanelNote>}
      <Lines context={context} lines={lines} />
      {!isLoading && fault === null && lines.length === 0 && before === null && (
        <EmptyState
          title={isFiltered ? "Nothing of that kind happened here" : "Nothing happened here yet"}
          actions={
            isFiltered && (
              <Button
                onClick={() => {
                  setKind("")
                  setWho("")
                }}
              >
                Show everything
              </Button>
            )
          }
        >
          {isFiltered ? "Choose another person, or everything." : "Add a cell or run one: it is listed here."}
        </EmptyState>
      )}
      {before !== null && (
        <Button disabled={isLoading} onClick={() => void feed.older()}>
          {isLoading ? "Loading…" : "Show older"}
        </Button>
      )}
      <p className="visually-hidden" role="status">
        {isLoading ? "Loading" : `${lines.length} ${lines.length === 1 ? "line" : "lines"}${before === null ? "" : ", and older ones"}`}
      </p>
    </PanelBody>
  )
}

/** The lines of these filters, followed as long as they are shown. */
function useFeed({ live, parts, log }: PageContext, kind: ActivityKind | "", who: ActorId): ActivityFeed {
  const feed = useMemo(
    () =>
      new ActivityFeed(
        { kinds: kind === "" ? undefined : [kind], who: who === "" ? undefined : who },
        { clock: parts.clock, head: () => live.seq, read: (query) => readActivity(parts.api, log, query) },
      ),
    [live, parts, log, kind, who],
  )
  useEffect(() => {
    feed.start()
    const stop = live.store.subscribe("seq", () => feed.grew())
    return () => {
      stop()
      feed.close()
    }
  }, [feed, live])
  return feed
}

/** Those who did something in what was loaded under any filter, or wrote what is there now, by name. */
function usePeople({ live, open }: PageContext, lines: readonly ActivityLine[]) {
  const cells = useField(live, "cells")
  const [add] = useState(() => {
    const known = new Set<ActorId>()
    return (actors: readonly (ActorId | null | undefined)[]): readonly ActorId[] => {
      for (const actor of actors) if (actor) known.add(actor)
      return [...known]
    }
  })
  const writers = [...cells.values()].flatMap((cell) => [cell.added_by, cell.edited_by, cell.execution?.by])
  const actors = add([...lines.flatMap((line) => [line.actor, line.on_behalf_of]), ...writers])
  const me = open.me.actor
  const named = actors.map((actor) => ({ value: actor, label: actor === me ? `${nameOf(actor)} (you)` : nameOf(actor) }))
  named.sort((one, other) => one.label.localeCompare(other.label))
  return [{ value: "", label: "Everybody" }, ...named]
}

function Lines({ context, lines }: { readonly context: PageContext; readonly lines: readonly ActivityLine[] }) {
  const news = useValue(seenOf(context.live).news)
  const seen = news?.since.seq ?? null
  // The newest of what was seen already: the divider stands above it.
  const edge = seen === null ? -1 : lines.findIndex(({ last }) => last <= seen)
  const isAnyNew = seen !== null && (lines[0]?.last ?? 0) > seen
  if (lines.length === 0) return null
  return (
    <ol className={css["lines"]} aria-label="Activity">
      {lines.flatMap((line, index) => [
        isAnyNew && index === edge && (
          <li key="seen" className={css["edge"]} data-seen-edge>
            <span aria-hidden="true">↑</span> New since you were here
          </li>
        ),
        <Line key={line.first} context={context} line={line} isNew={seen !== null && line.last > seen} />,
      ])}
    </ol>
  )
}

function Line({ context, line, isNew }: { readonly context: PageContext; readonly line: ActivityLine; readonly isNew: boolean }) {
  const me = context.open.me.actor
  const order = useField(context.live, "order")
  const cells = useField(context.live, "cells")
  const notebook = useMemo(() => ({ ...context.live.store.get(), order, cells }), [context, order, cells])
  const page = context.live.store.field("run") === null ? "notebooks" : "runs"
  return (
    <li className={css["line"]} data-new={isNew || undefined}>
      <Person actor={line.actor} onBehalfOf={line.on_behalf_of} me={me} />{" "}
      {lineWords(line.acts, line.left_out).map((piece, index) => (
        <Words key={index} context={context} piece={piece} notebook={notebook} />
      ))}
      <a className={css["when"]} href={`/${page}/${encodeURIComponent(context.log)}?at=${line.last}`}>
        <span className="visually-hidden">The notebook as it was then, </span>
        <Time at={line.at} />
      </a>
    </li>
  )
}

function Words({ context, piece, notebook }: { readonly context: PageContext; readonly piece: Piece; readonly notebook: Notebook }) {
  if (typeof piece === "string") return <span>{visible(piece)}</span>
  const cell = notebook.cells.get(piece.cell)
  const label = visible(cellLabel(notebook, piece.cell))
  if (cell?.removed === false) return <CellLink context={context} id={piece.cell} label={label} />
  return <span>{piece.isRemoval && !cell?.name ? "a cell" : label}</span>
}

function CellLink({ context, id, label }: { readonly context: PageContext; readonly id: CellId; readonly label: string }) {
  return (
    <button type="button" className={css["cell"]} onClick={() => context.goTo(id)}>
      {label}
    </button>
  )
}
