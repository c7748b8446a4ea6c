/** All of a long text: in pages, with a search over the whole of it. The search takes keys at once, whatever is still loaded. */

import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react"
import { Notice } from "./Actions.tsx"
import { overwritten } from "./ansi.ts"
import { cutWide } from "./stream_window.ts"
import { terminalNodes } from "./terminal_text.ts"
import type { OutputPlace } from "./shown_place.ts"
import { PAGE, TextPages } from "./text_pages.ts"
import type { Found } from "./text_pages.ts"
import { useLoaded } from "./use_loaded.ts"
import css from "./WholeText.module.css"
import shown from "./TerminalText.module.css"

interface Props {
  /** What the text is loaded for: another one is loaded anew. */
  readonly stream: unknown
  readonly load: () => Promise<string>
  /** Whether the search is to be focused. */
  readonly isSearched: boolean
  /** The place to show first, and whenever it is another one. */
  readonly place?: OutputPlace | null
  readonly label: string
}

const BLOCK = 100

export function WholeText({ stream, load, isSearched, place: wanted = null, label }: Props) {
  const loaded = useLoaded(stream, async () => TextPages.of(overwritten(await load())))
  const pages = loaded.state === "there" ? loaded.value : null
  const [page, setPage] = useState(0)
  const [place, setPlace] = useState<{ readonly at: number; readonly length: number } | null>(null)
  const go = useCallback(
    (at: number, length: number) => {
      setPage(pages?.pageAt(at) ?? 0)
      setPlace({ at, length })
    },
    [pages],
  )
  const [last, setLast] = useState<OutputPlace | null>(null)
  if (pages && wanted && wanted !== last) {
    setLast(wanted)
    go(...placeOf(pages, wanted))
  }
  return (
    <div>
      <SearchBar pages={pages} isFocused={isSearched} onGo={go} />
      {pages ? <PageText pages={pages} page={page} place={place} label={label} /> : <div className={css["box"]} aria-busy="true" />}
      {pages && pages.count > 1 && <Pager pages={pages} page={page} onPage={setPage} />}
      {loaded.state === "failed" && <Notice text={loaded.message} isError />}
    </div>
  )
}

/** Where a line is in the text, and the words that are to be seen in it. */
function placeOf(pages: TextPages, { line, text }: OutputPlace): [at: number, length: number] {
  const start = pages.lineStart(line)
  const end = pages.text.indexOf("\n", start)
  const at = pages.text.slice(start, end < 0 ? undefined : end).toLowerCase().indexOf(text.toLowerCase())
  return at < 0 ? [start, 0] : [start + at, text.length]
}

function Pager({ pages, page, onPage }: { readonly pages: TextPages; readonly page: number; readonly onPage: (page: number) => void }) {
  const first = page * PAGE + 1
  const last = Math.min(pages.lines, first + PAGE - 1)
  const buttons = [
    { label: "First", to: 0, isOff: page === 0 },
    { label: "Previous", to: page - 1, isOff: page === 0 },
    { label: "Next", to: page + 1, isOff: page === pages.count - 1 },
    { label: "Last", to: pages.count - 1, isOff: page === pages.count - 1 },
  ]
  return (
    <div className={css["bar"]} role="group" aria-label="Pages">
      <span aria-live="polite">
        Lines {first.toLocaleString("en")} to {last.toLocaleString("en")} of {pages.lines.toLocaleString("en")}
      </span>
      {buttons.map(({ label, to, isOff }) => (
        <button key={label} type="button" disabled={isOff} onClick={() => onPage(to)}>
          {label}
        </button>
      ))}
    </div>
  )
}

function SearchBar({ pages, isFocused, onGo }: { readonly pages: TextPages | null; readonly isFocused: boolean; readonly onGo: (at: number, length: number) => void }) {
  const [wanted, setWanted] = useState("")
  const [last, setLast] = useState<{ readonly wanted: string; readonly found: Found } | null>(null)
  const [current, setCurrent] = useState(0)
  const field = useRef<HTMLInputElement>(null)
  // In the turn of the click: what is typed next must not act on the notebook.
  useLayoutEffect(() => {
    if (isFocused) field.current?.focus()
  }, [isFocused])
  useEffect(() => {
    let isCurrent = true
    if (!wanted || !pages) return
    void pages.find(wanted, () => isCurrent).then((all) => {
      if (!all) return
      setLast({ wanted, found: all })
      setCurrent(0)
      if (all.at[0] !== undefined) onGo(all.at[0], wanted.length)
    })
    return () => {
      isCurrent = false
    }
  }, [wanted, pages, onGo])
  const found = last?.wanted === wanted ? last.found : null
  const step = (by: number): void => {
    if (!found?.at.length) return
    const next = (current + by + found.at.length) % found.at.length
    setCurrent(next)
    onGo(found.at[next] ?? 0, wanted.length)
  }
  return (
    <div className={css["bar"]} role="search">
      <input
        ref={field}
        type="search"
        value={wanted}
        placeholder="Search in this output"
        aria-label="Search in this output"
        onChange={(event) => setWanted(event.target.value)}
        onKeyDown={(event) => {
          event.stopPropagation()
          if (event.key === "Enter") step(event.shiftKey ? -1 : 1)
        }}
      />
      <span aria-live="polite">{wanted && found ? says(found, current) : ""}</span>
      <button type="button" disabled={!found?.at.length} onClick={() => step(-1)}>
        Previous match
      </button>
      <button type="button" disabled={!found?.at.length} onClick={() => step(1)}>
        Next match
      </button>
    </div>
  )
}

function says({ at, isCut }: Found, current: number): string {
  if (!at.length) return "Not found"
  return `${(current + 1).toLocaleString("en")} of ${at.length.toLocaleString("en")}${isCut ? " and more" : ""}`
}

interface PageTextProps {
  readonly pages: TextPages
  readonly page: number
  readonly place: { readonly at: number; readonly length: number } | null
  readonly label: string
}

function PageText({ pages, page, place, label }: PageTextProps) {
  const box = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    box.current?.replaceChildren(...blocks(pages, page))
    box.current?.scrollTo(0, 0)
  }, [pages, page])
  useLayoutEffect(() => {
    if (!place || !box.current || pages.pageAt(place.at) !== page) return
    const line = countBefore(pages, page, place.at)
    const block = box.current.children[Math.floor(line / BLOCK)]
    if (!block) return
    block.scrollIntoView({ block: "nearest" })
    mark(block, pages, place)
  }, [place, pages, page])
  return <div ref={box} className={css["box"]} tabIndex={0} role="group" aria-label={`${label}, whole text`} />
}

/** A page as blocks of lines, so that the browser lays out only those in view. */
function blocks(pages: TextPages, page: number): HTMLElement[] {
  const lines = cutWide(pages.page(page).replace(/\n$/, "")).split("\n")
  let look = pages.look(page)
  const made: HTMLElement[] = []
  for (let at = 0; at < lines.length; at += BLOCK) {
    const block = document.createElement("pre")
    block.className = `${shown["text"] ?? ""} ${css["block"] ?? ""}`
    const [nodes, after] = terminalNodes(lines.slice(at, at + BLOCK).join("\n"), look)
    look = after
    block.append(nodes)
    made.push(block)
  }
  return made
}

function countBefore(pages: TextPages, page: number, offset: number): number {
  return pages.text.slice(pages.start(page), offset).split("\n").length - 1
}

/** Mark what was found, and bring it into view. */
function mark(block: Element, pages: TextPages, { at, length }: { readonly at: number; readonly length: number }): void {
  const wanted = pages.text.slice(at, at + length).toLowerCase()
  if (!wanted) return
  const start = pages.text.lastIndexOf("\n", at - 1) + 1
  const before = pages.text.slice(start, at).toLowerCase().split(wanted).length - 1
  const line = countBefore(pages, pages.pageAt(at), at) % BLOCK
  const range = rangeOf(block, wanted, line, before)
  if (!range) return
  if ("highlights" in CSS) CSS.highlights.set("quire-found", new Highlight(range))
  const box = block.parentElement
  const there = range.getBoundingClientRect()
  const around = box?.getBoundingClientRect()
  if (box && around && (there.top < around.top || there.bottom > around.bottom)) box.scrollTop += there.top - around.top - around.height / 2
}

/** The range of the text in a line of a block: the one after `before` others of the same line. */
function rangeOf(block: Element, wanted: string, line: number, before: number): Range | null {
  const text = block.textContent.toLowerCase()
  let start = 0
  for (let left = line; left > 0; left -= 1) start = text.indexOf("\n", start) + 1
  let at = text.indexOf(wanted, start)
  for (let left = before; left > 0 && at >= 0; left -= 1) at = text.indexOf(wanted, at + wanted.length)
  if (at < 0) return null
  const range = document.createRange()
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT)
  let passed = 0
  let isStarted = false
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const length = node.textContent?.length ?? 0
    if (!isStarted && at < passed + length) {
      range.setStart(node, at - passed)
      isStarted = true
    }
    if (isStarted && at + wanted.length <= passed + length) {
      range.setEnd(node, at + wanted.length - passed)
      return range
    }
    passed += length
  }
  return null
}
