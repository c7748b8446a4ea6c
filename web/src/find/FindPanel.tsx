/** Find and replace over the whole notebook: sources and outputs, from the store and not from the page. */

import { useEffect, useRef, useState } from "react"
import type { KeyboardEvent, RefObject } from "react"

import { useValue } from "../hooks/values.ts"
import { isOpen } from "../core/notebook.ts"
import { pointAt } from "../core/points.ts"
import type { Cell, Output } from "../core/types.gen.ts"
import { choose } from "../outputs/media.ts"
import { outputName, shownPlace } from "../outputs/shown_place.ts"
import { endedWindow, isFoldedAway, textWindow } from "../outputs/stream_window.ts"
import type { Live } from "../sync/live.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Value } from "../sync/store.ts"
import { Button, IconButton } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { PanelNote } from "../ui/Panel.tsx"
import css from "./Find.module.css"
import { FindResults } from "./FindResults.tsx"
import { clearMark, showCell, showMatch } from "./highlight.ts"
import { AS_OPENED } from "./matches.ts"
import type { Match, OutputTexts, Query } from "./matches.ts"
import type { OutputSource } from "./output_reader.ts"
import { OutputsStatus } from "./OutputsStatus.tsx"
import { replaceAll, replaceOne } from "./replace.ts"
import { Search } from "./search.ts"

const SEARCHES = new WeakMap<Live, Search>()

/** What is searched for stays when the panel is closed. */
function searchOf({ log, live, parts }: PageContext): Search {
  const { api, clock } = parts
  const source: OutputSource = {
    execution: (id) => api.execution(log, id),
    blob: (hash) => api.blob(hash),
    blobPart: (hash, start, end) => api.blobPart(hash, start, end),
  }
  const search = SEARCHES.get(live) ?? new Search(live.store, clock, source)
  SEARCHES.set(live, search)
  return search
}

export function FindPanel({ context }: { readonly context: PageContext }) {
  const search = searchOf(context)
  const field = useRef<HTMLInputElement>(null)
  const [isReplacing, setReplacing] = useState(search.replacement.get() !== "")
  useEffect(() => search.start(), [search])
  useFindKeys(field)
  useEffect(() => {
    const selected = selectedText()
    if (selected && selected !== search.query.get().text) search.ask({ ...search.query.get(), text: selected })
    return () => {
      clearMark()
      shownPlace.set(null)
    }
  }, [search])

  const step = (by: 1 | -1): void => show(context, search, search.step(by, behindFocus(context)))
  const pick = (index: number): void => {
    search.current.set(index)
    const match = search.found.get().matches[index]
    if (match) goTo(context, search, match)
  }
  const keys = (event: KeyboardEvent<HTMLElement>): void => {
    if (event.key === "Enter" && event.target === field.current) step(event.shiftKey ? -1 : 1)
    else if (event.key === "Escape") leave(context, search)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div className={css["find"]} onKeyDown={keys} role="search" aria-label="Find in this notebook">
      <div className={css["form"]}>
        <div className={css["row"]}>
          <IconButton
            label="Replace"
            icon={<Icon name={isReplacing ? "chevron-down" : "chevron-right"} />}
            expanded={isReplacing}
            disabled={!context.mayEdit}
            onClick={() => setReplacing(!isReplacing)}
          />
          <QueryField search={search} field={field} />
        </div>
        {isReplacing && context.mayEdit && <ReplaceRow context={context} search={search} onReplaced={(match) => show(context, search, match)} />}
        <StepRow search={search} onStep={step} />
        {search.outputs && <OutputsStatus reader={search.outputs} />}
      </div>
      <FindResults context={context} search={search} onPick={pick} />
    </div>
  )
}

/** Ctrl-F in the field is the browser's own find; anywhere else, an editor too, it comes back to the field. */
function useFindKeys(field: RefObject<HTMLInputElement | null>): void {
  useEffect(() => {
    const press = (event: globalThis.KeyboardEvent): void => {
      const isFind = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "f"
      if (!isFind) return
      // The page would close the panel.
      event.stopPropagation()
      if (document.activeElement === field.current) return
      event.preventDefault()
      field.current?.focus()
      field.current?.select()
    }
    document.addEventListener("keydown", press, true)
    return () => document.removeEventListener("keydown", press, true)
  }, [field])
}

const TOGGLES = [
  { field: "matchesCase", label: "Match case", text: "Aa" },
  { field: "isWholeWord", label: "Whole word", text: null },
  { field: "isPattern", label: "Regular expression", text: ".*" },
] as const satisfies readonly { readonly field: keyof Query; readonly label: string; readonly text: string | null }[]

function QueryField({ search, field }: { readonly search: Search; readonly field: RefObject<HTMLInputElement | null> }) {
  const query = useValue(search.query)
  const { fault } = useValue(search.found)
  return (
    <div className={css["query"]}>
      <input
        ref={field}
        type="text"
        className={css["input"]}
        aria-label="Find"
        aria-invalid={fault ? true : undefined}
        placeholder="Find in sources and outputs"
        data-autofocus=""
        autoComplete="off"
        spellCheck={false}
        value={query.text}
        onChange={(event) => search.ask({ ...query, text: event.target.value })}
      />
      {TOGGLES.map(({ field: name, label, text }) => (
        <IconButton
          key={name}
          label={label}
          icon={text === null ? <WholeWord /> : <span className={css["sign"]}>{text}</span>}
          pressed={query[name]}
          onClick={() => search.ask({ ...query, [name]: !query[name] })}
        />
      ))}
    </div>
  )
}

/** The letters a and b, underlined: drawn, because as text they would be the name of the button. */
function WholeWord() {
  return (
    <svg width="16" height="16" viewBox="0 0 16 16" fill="none" stroke="currentColor" strokeWidth="1.4" strokeLinecap="round" aria-hidden="true">
      <path d="M6.5 6.2v4.3M6.5 8.400a2 2 0 1 0-4 0 2 2 0 0 0 4 0zM9.500 3.500v7M9.500 8.400a2 2 0 1 0 4 0 2 2 0 0 0-4 0zM2 13.500h12" />
    </svg>
  )
}

interface ReplaceRowProps {
  readonly context: PageContext
  readonly search: Search
  readonly onReplaced: (next: Match | null) => void
}

function ReplaceRow({ context, search, onReplaced }: ReplaceRowProps) {
  const text = useValue(search.replacement)
  const { matches } = useValue(search.found)
  const sources = matches.filter(({ where }) => where === "source").length
  const one = (): void => onReplaced(replaceOne(context, search))
  return (
    <div className={css["replace"]}>
      <input
        type="text"
        className={css["input"]}
        aria-label="Replace with"
        placeholder="Replace with"
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={(event) => search.replacement.set(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return
          event.preventDefault()
          event.stopPropagation()
          one()
        }}
      />
      <Button disabled={sources === 0} onClick={one}>
        Replace
      </Button>
      <Button disabled={sources === 0} onClick={() => replaceAll(context, search)} title="In sources; outputs stay as they are">
        All
      </Button>
    </div>
  )
}

const NO_STATUS = new Value(null)

function StepRow({ search, onStep }: { readonly search: Search; readonly onStep: (by: 1 | -1) => void }) {
  const { text } = useValue(search.query)
  const { matches, isComplete, isCut, fault } = useValue(search.found)
  const current = useValue(search.current)
  const isReading = useValue(search.outputs?.status ?? NO_STATUS)?.isBusy ?? false
  const isRead = isComplete && !(isReading && matches.length === 0)
  return (
    <>
      <div className={css["steps"]}>
        <span role="status" className={fault ? css["fault"] : css["count"]}>
          {fault ?? countText(text, current, matches.length, isRead, isCut)}
        </span>
        <IconButton label="Previous match" keys="Shift-Enter" icon={<Icon name="up" />} disabled={!matches.length} onClick={() => onStep(-1)} />
        <IconButton label="Next match" keys="Enter" icon={<Icon name="down" />} disabled={!matches.length} onClick={() => onStep(1)} />
      </div>
      {text && isRead && !fault && matches.length === 0 && (
        <PanelNote>All sources and outputs of this notebook were searched. A shorter text, or fewer of the buttons above, finds more.</PanelNote>
      )}
    </>
  )
}

function countText(query: string, current: number, count: number, isComplete: boolean, isCut: boolean): string {
  if (!query) return ""
  if (!isComplete) return "Searching…"
  if (count === 0) return "Nothing found"
  const all = `${count.toLocaleString("en")}${isCut ? "+" : ""}`
  return current < 0 ? `${all} found` : `${(current + 1).toLocaleString("en")} of ${all}`
}

// ---- Going there

/** Bring a match into view; the focus stays in the field. */
function show(context: PageContext, search: Search, match: Match | null): void {
  if (!match) return
  const cell = context.live.store.cell(match.cell)
  if (!cell) return
  if (match.where === "output" && showInWhole(context, search, cell, match)) return
  const texts = search.outputs ?? AS_OPENED
  const output = texts.outputs(cell)[match.output]
  const text = match.where === "source" ? cell.source : output ? texts.text(output) : ""
  if (!showMatch(match, text)) goTo(context, search, match)
}

/** A line that an output folds away is shown in its whole text, which marks it. Returns whether it is such a line. */
function showInWhole({ log }: PageContext, search: Search, cell: Cell, match: Match): boolean {
  const texts = search.outputs ?? AS_OPENED
  const output = texts.outputs(cell)[match.output]
  if (!output || !cell.execution || isOpen(cell.execution) || !isFolded(output, texts, match)) return false
  const { lineText, column, length } = match
  shownPlace.set({ output: outputName(log, cell.id, cell.execution.id, match.output), line: match.line, text: lineText.slice(column, column + length) })
  showCell(cell.id)
  return true
}

function isFolded(output: Output, texts: OutputTexts, { line }: Match): boolean {
  if (output.kind === "error") return false
  if (output.kind === "display") return choose(output)?.view === "plain" && isFoldedAway(textWindow(texts.text(output)), line)
  return isFoldedAway(output.omitted ? endedWindow(output) : textWindow(texts.text(output)), line)
}

/** Go to a match for good: the text is selected in its editor. */
function goTo(context: PageContext, search: Search, match: Match): void {
  const source = context.live.store.cell(match.cell)?.source ?? ""
  // Where the panel is a sheet over the cells, it has to go for them to be seen.
  if (matchMedia("(width < 900px)").matches) context.openPanel(null)
  if (match.where === "output" || !context.mayEdit) {
    context.goTo(match.cell)
    show(context, search, match)
    return
  }
  const select = { from: pointAt(source, match.from), to: pointAt(source, match.to) }
  context.goTo(match.cell, { edit: true, select })
}

/** Close the panel, at the match that was found last. */
function leave(context: PageContext, search: Search): void {
  const match = search.found.get().matches[search.current.get()]
  context.openPanel(null)
  if (match) context.goTo(match.cell)
}

/** The search begins at the cell that has the focus. */
function behindFocus({ live, focus }: PageContext): (match: Match) => boolean {
  const focused = focus.get()
  if (focused === null) return () => true
  const order = live.store.field("order")
  const places = new Map(order.map((id, index) => [id, index]))
  const from = places.get(focused) ?? 0
  return ({ cell }) => (places.get(cell) ?? 0) >= from
}

function selectedText(): string {
  const text = String(document.getSelection() ?? "")
  return text.includes("\n") || text.length > 200 ? "" : text
}
