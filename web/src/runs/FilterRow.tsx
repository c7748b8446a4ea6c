/** The filters of the table: a field for words and conditions, choices, and what is set, each to be taken away. */

import { useState } from "react"
import type { RefObject } from "react"

import { Button, IconButton } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Kbd } from "../ui/Kbd.tsx"
import { Menu } from "../ui/Menu.tsx"
import type { MenuItem } from "../ui/Menu.tsx"
import { nameOf } from "../ui/Person.tsx"
import { Popover } from "../ui/Popover.tsx"
import { stateWord } from "../ui/StateMark.tsx"
import type { ShownColumn } from "./columns.ts"
import { ConditionForm } from "./ConditionForm.tsx"
import css from "./Filter.module.css"
import { beginsCondition, isCondition, isFiltered, NO_QUERY } from "./query.ts"
import type { RunQuery } from "./query.ts"
import type { TableState } from "./table_state.ts"
import { WhenForm, whenWords } from "./WhenForm.tsx"

export interface FilterRowProps {
  readonly query: RunQuery
  readonly table: Pick<TableState, "sources" | "people">
  readonly columns: readonly ShownColumn[]
  readonly field: RefObject<HTMLInputElement | null>
  readonly me: string | undefined
  /** `isTyping`: a letter more of the same, not worth a step of Back. */
  readonly onQuery: (query: RunQuery, options?: { readonly isTyping: boolean }) => void
}

const STATUSES = ["queued", "running", "success", "error", "timeout", "cancelled", "dead_kernel", "lost"]

export function FilterRow(props: FilterRowProps) {
  const { query, columns, onQuery } = props
  return (
    <div className={css["filters"]} role="search" aria-label="Filter runs">
      <WordsField {...props} />
      <div className={css["choices"]}>
        <Menu kind="plain" label="Outcome" items={() => statusItems(props)} />
        <Menu kind="plain" label="Source" items={() => sourceItems(props)} />
        <Menu kind="plain" label="Who" items={() => personItems(props)} />
        <Popover kind="plain" label="When">
          {(close) => <WhenForm query={query} onQuery={onQuery} onClose={close} />}
        </Popover>
        <Popover kind="plain" label="Value">
          {(close) => (
            <ConditionForm
              columns={columns}
              onAdd={(condition) => {
                onQuery({ ...query, where: [...query.where, condition] })
                close()
              }}
            />
          )}
        </Popover>
      </div>
      <SetFilters {...props} />
    </div>
  )
}

/** Words filter as they are typed; a condition such as `result.accuracy > 0.9` with Enter. */
function WordsField({ query, field, onQuery }: FilterRowProps) {
  const [draft, setDraft] = useState<string | null>(null)
  const shown = draft ?? query.text
  const type = (text: string): void => {
    if (beginsCondition(text)) {
      setDraft(text)
      if (query.text) onQuery({ ...query, text: "" }, { isTyping: true })
    } else {
      setDraft(null)
      onQuery({ ...query, text }, { isTyping: true })
    }
  }
  return (
    <div className={css["words"]}>
      <Icon name="search" />
      <input
        ref={field}
        type="search"
        value={shown}
        placeholder="Words, or result.accuracy > 0.9"
        aria-label="Filter by words, or by a condition such as result.accuracy > 0.9"
        aria-describedby="condition-help"
        aria-keyshortcuts="/"
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => type(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && isCondition(shown)) {
            setDraft(null)
            onQuery({ ...query, text: "", where: [...query.where, shown.trim()] })
          } else if (event.key === "Escape") {
            type("")
            event.currentTarget.blur()
          }
        }}
      />
      {shown === "" && <Kbd keys="/" />}
      <span id="condition-help" className={draft === null ? "visually-hidden" : css["help"]} role="status">
        {draft === null ? "" : isCondition(draft) ? "Enter filters by this." : "Go on: = != < <= > >= ~ and a value, or is missing."}
      </span>
    </div>
  )
}

function statusItems({ query, onQuery }: FilterRowProps): readonly MenuItem[] {
  return STATUSES.map((status) => ({
    label: statusWord(status),
    checked: query.status.includes(status),
    onSelect: () => onQuery({ ...query, status: toggled(query.status, status) }),
  }))
}

function sourceItems({ query, table, onQuery }: FilterRowProps): readonly MenuItem[] {
  const all: MenuItem = { label: "All", checked: !query.notebook && !query.source, onSelect: () => onQuery({ ...query, notebook: null, source: null }) }
  return [
    all,
    "separator",
    ...table.sources.map(({ notebook, path, name, runs }) => ({
      label: `${path ?? name} (${runs.toLocaleString("en")})`,
      checked: path === null ? query.notebook === notebook : query.source === path,
      onSelect: () => onQuery({ ...query, notebook: path === null ? notebook : null, source: path }),
    })),
  ]
}

function personItems({ query, table, me, onQuery }: FilterRowProps): readonly MenuItem[] {
  const people = [...new Set([...table.people, ...query.who])]
  if (people.length === 0) return [{ label: "Nobody yet", disabled: true, onSelect: () => undefined }]
  return people.map((actor) => ({
    label: actor === me ? `${nameOf(actor)} (you)` : nameOf(actor),
    checked: query.who.includes(actor),
    onSelect: () => onQuery({ ...query, who: toggled(query.who, actor) }),
  }))
}

function toggled(list: readonly string[], item: string): readonly string[] {
  return list.includes(item) ? list.filter((each) => each !== item) : [...list, item]
}

function statusWord(status: string): string {
  return status === "success" ? "succeeded" : stateWord(status)
}

// ---- What is set

interface SetFilter {
  readonly label: string
  readonly without: RunQuery
}

function SetFilters({ query, table, onQuery }: FilterRowProps) {
  const set = setFilters(query, table)
  if (set.length === 0) return null
  return (
    <ul className={css["set"]} aria-label="Filters that are set">
      {set.map(({ label, without }) => (
        <li key={label} className={css["chip"]}>
          <span>{label}</span>
          <IconButton label={`Remove filter ${label}`} icon={<Icon name="cross" size={12} />} onClick={() => onQuery(without)} />
        </li>
      ))}
      {isFiltered(query) && (
        <li>
          <Button kind="quiet" onClick={() => onQuery({ ...NO_QUERY, sort: query.sort })}>
            Clear
          </Button>
        </li>
      )}
    </ul>
  )
}

function setFilters(query: RunQuery, { sources }: Pick<TableState, "sources">): readonly SetFilter[] {
  const { notebook, source } = query
  const set: SetFilter[] = []
  if (notebook) {
    const name = sources.find((each) => each.notebook === notebook)?.name ?? notebook
    set.push({ label: `notebook ${name}`, without: { ...query, notebook: null } })
  }
  if (source) set.push({ label: source, without: { ...query, source: null } })
  if (query.status.length) set.push({ label: query.status.map(statusWord).join(" or "), without: { ...query, status: [] } })
  if (query.who.length) set.push({ label: `by or for ${query.who.map(nameOf).join(" or ")}`, without: { ...query, who: [] } })
  if (query.since || query.until) set.push({ label: whenWords(query), without: { ...query, since: null, until: null } })
  query.where.forEach((condition, index) => {
    set.push({ label: condition, without: { ...query, where: query.where.filter((_, each) => each !== index) } })
  })
  return set
}
