/**
 * What a cell printed. While it runs, the last lines, drawn once per animation frame and without React; once it has
 * ended, the first and the last ones, and the whole text on demand.
 */

import { memo, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from "react"
import type { Stream } from "../core/types.gen.ts"
import type { OutputContext } from "./context.ts"
import { download } from "./download.ts"
import { Actions, Notice } from "./Actions.tsx"
import { COUNTED_UNASKED, countLinesOf, knownLines, watchLines } from "./line_counts.ts"
import { byteSize } from "./media.ts"
import { shownPlace } from "./shown_place.ts"
import type { OutputPlace } from "./shown_place.ts"
import { cutWide, endedWindow, Following, isFoldedAway } from "./stream_window.ts"
import type { Window } from "./stream_window.ts"
import { terminalNodes } from "./terminal_text.ts"
import { TerminalText } from "./TerminalText.tsx"
import css from "./Stream.module.css"
import text from "./TerminalText.module.css"
import { useNear } from "./use_near.ts"
import { WholeText } from "./WholeText.tsx"

/** Bytes of text that a page takes at once: a browser has no longer strings than twice as many characters. */
const MOST_SHOWN = 200_000_000

interface Props {
  readonly stream: Stream
  /** Names the output, so that a place in it can be shown. */
  readonly name?: string | undefined
  readonly isRunning: boolean
  readonly context: OutputContext
}

export const StreamOutput = memo(function StreamOutput({ stream, name, isRunning, context }: Props) {
  const isError = stream.name === "stderr"
  return (
    <div className={isError ? css["stderr"] : css["stdout"]} role={isError ? "group" : undefined} aria-label={isError ? "stderr" : undefined}>
      {isError && (
        <span className={css["name"]} aria-hidden="true">
          stderr
        </span>
      )}
      {isRunning ? <RunningStream stream={stream} /> : <EndedStream key={stream.blob?.hash} stream={stream} name={name} context={context} />}
    </div>
  )
})

// ---- While it runs

function RunningStream({ stream }: { readonly stream: Stream }) {
  const place = useRef<HTMLPreElement>(null)
  const drawn = useRef<Drawing | null>(null)
  useLayoutEffect(() => {
    if (!place.current) return
    const drawing = new Drawing(place.current)
    drawn.current = drawing
    return () => drawing.stop()
  }, [])
  useLayoutEffect(() => drawn.current?.show(stream), [stream])
  return <pre ref={place} className={`${text["text"] ?? ""} ${css["following"] ?? ""}`} />
}

/** Draws the last lines of a stream into an element, at most once per animation frame. */
class Drawing {
  readonly #place: HTMLElement
  readonly #following = new Following()
  #next: Stream | null = null
  #frame = 0

  constructor(place: HTMLElement) {
    this.#place = place
  }

  show(stream: Stream): void {
    const isFirst = !this.#next
    this.#next = stream
    if (isFirst) this.#draw()
    else this.#frame ||= requestAnimationFrame(() => this.#draw())
  }

  stop(): void {
    cancelAnimationFrame(this.#frame)
  }

  #draw(): void {
    this.#frame = 0
    if (!this.#next) return
    const { text: shown, look } = this.#following.next(this.#next)
    this.#place.replaceChildren(terminalNodes(shown.replace(/\n$/, ""), look)[0])
  }
}

// ---- Once it has ended

interface EndedProps extends Omit<Props, "isRunning"> {
  readonly name: string | undefined
}

type Opened = "closed" | "open" | "searched"

function EndedStream({ stream, name, context }: EndedProps) {
  const [whole, setWhole] = useState<Opened>("closed")
  const [problem, setProblem] = useState("")
  const element = useRef<HTMLDivElement>(null)
  const shown = endedWindow(stream, useLines(stream, context, element))
  const place = usePlace(name, shown, () => setWhole("open"))
  if (shown.tail === null) return <TerminalText text={cutWide(shown.head)} />
  const blob = stream.omitted ? stream.blob : null
  const load = async (): Promise<Blob> => {
    if (!blob) return new Blob([stream.head ?? "", stream.tail ?? ""], { type: "text/plain" })
    const loaded = await context.blob(blob.hash)
    void countLinesOf(blob.hash, loaded)
    return loaded
  }
  const save = (): void => {
    setProblem("")
    load().then(
      (all) => download(new Blob([all], { type: "text/plain" }), `${stream.name}.txt`),
      (error: unknown) => setProblem(error instanceof Error ? error.message : String(error)),
    )
  }
  const isTooLong = (blob?.size ?? 0) > MOST_SHOWN
  const items = [
    ...(isTooLong ? [] : [whole === "closed" ? { label: "Show all", onClick: () => setWhole("open") } : { label: "Show less", onClick: () => setWhole("closed") }]),
    ...(isTooLong ? [] : [{ label: "Search", onClick: () => setWhole("searched") }]),
    { label: "Download", onClick: save },
  ]
  return (
    <div ref={element}>
      {whole === "closed" || isTooLong ? (
        <Ends shown={shown} />
      ) : (
        <WholeText stream={stream} load={async () => (await load()).text()} isSearched={whole === "searched"} place={place} label={stream.name} />
      )}
      <Actions says={lengthText(shown.lines, blob?.size ?? 0) + (isTooLong ? ", too long to be shown in a page" : "")} items={items} />
      {problem && <Notice text={problem} isError />}
    </div>
  )
}

/** How long a text is: in lines where they were counted, and otherwise what is known of it. */
function lengthText(lines: number | null, bytes: number): string {
  return lines === null ? `${byteSize(bytes)} of text` : `${lines.toLocaleString("en")} lines`
}

/** How many lines the blob of a stream has. A small one is fetched for that when it is near the view; null of others until they are here. */
function useLines(stream: Stream, context: OutputContext, element: { readonly current: Element | null }): number | null {
  const blob = stream.omitted ? stream.blob : null
  const lines = useSyncExternalStore(watchLines, () => (blob ? knownLines(blob.hash) : null))
  const isNear = useNear(element, false)
  const wanted = blob && lines === null && isNear && blob.size <= COUNTED_UNASKED ? blob.hash : null
  useEffect(() => {
    if (wanted === null) return
    // Where it cannot be had, its size is said instead.
    context.blob(wanted).then((loaded) => countLinesOf(wanted, loaded), () => undefined)
  }, [wanted, context])
  return lines
}

/** The place of this output that is to be seen, where it is in lines that are folded away. */
function usePlace(name: string | undefined, shown: Window, open: () => void): OutputPlace | null {
  const wanted = useSyncExternalStore(shownPlace.subscribe, shownPlace.get)
  const place = wanted && wanted.output === name && isFoldedAway(shown, wanted.line) ? wanted : null
  const [last, setLast] = useState<OutputPlace | null>(null)
  if (place && place !== last) {
    setLast(place)
    open()
  }
  return place
}

function Ends({ shown }: { readonly shown: Window }) {
  const left = shown.hidden === null ? "what is between is not shown here" : `${shown.hidden.toLocaleString("en")} more lines`
  return (
    <>
      <TerminalText text={cutWide(shown.head)} />
      <div className={css["gap"]}>{left}</div>
      <TerminalText text={cutWide(shown.tail ?? "")} look={shown.tailLook} />
    </>
  )
}
