/**
 * What a cell printed. While it runs, the last lines, drawn once per animation frame and without React; once it has
 * ended, the first and the last ones, and the whole text on demand.
 */

import { memo, useLayoutEffect, useRef, useState } from "react"
import type { Stream } from "../core/types.gen.ts"
import type { OutputContext } from "./context.ts"
import { download } from "./download.ts"
import { Actions, Notice } from "./Actions.tsx"
import { byteSize } from "./media.ts"
import { cutWide, endedWindow, Following } from "./stream_window.ts"
import { terminalNodes } from "./terminal_text.ts"
import { TerminalText } from "./TerminalText.tsx"
import css from "./Stream.module.css"
import text from "./TerminalText.module.css"
import { WholeText } from "./WholeText.tsx"

interface Props {
  readonly stream: Stream
  readonly isRunning: boolean
  readonly context: OutputContext
}

export const StreamOutput = memo(function StreamOutput({ stream, isRunning, context }: Props) {
  const isError = stream.name === "stderr"
  return (
    <div className={isError ? css["stderr"] : css["stdout"]} role={isError ? "group" : undefined} aria-label={isError ? "stderr" : undefined}>
      {isError && (
        <span className={css["name"]} aria-hidden="true">
          stderr
        </span>
      )}
      {isRunning ? <RunningStream stream={stream} /> : <EndedStream key={stream.blob?.hash} stream={stream} context={context} />}
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

function EndedStream({ stream, context }: { readonly stream: Stream; readonly context: OutputContext }) {
  const [whole, setWhole] = useState<"closed" | "open" | "searched">("closed")
  const [problem, setProblem] = useState("")
  const shown = endedWindow(stream)
  if (shown.tail === null) return <TerminalText text={cutWide(shown.head)} />
  const load = async (): Promise<string> => {
    return stream.blob && stream.omitted ? (await context.blob(stream.blob.hash)).text() : (stream.head ?? "") + (stream.tail ?? "")
  }
  const save = (): void => {
    setProblem("")
    load().then(
      (all) => download(new Blob([all], { type: "text/plain" }), `${stream.name}.txt`),
      (error: unknown) => setProblem(error instanceof Error ? error.message : String(error)),
    )
  }
  const items = [
    whole === "closed" ? { label: "Show all", onClick: () => setWhole("open") } : { label: "Show less", onClick: () => setWhole("closed") },
    { label: "Search", onClick: () => setWhole("searched") },
    { label: "Download", onClick: save },
  ]
  return (
    <>
      {whole === "closed" ? <Ends shown={shown} /> : <WholeText stream={stream} load={load} isSearched={whole === "searched"} label={stream.name} />}
      <Actions says={shown.lines === null ? byteSize(stream.blob?.size ?? 0) : `${shown.lines.toLocaleString("en")} lines`} items={items} />
      {problem && <Notice text={problem} isError />}
    </>
  )
}

function Ends({ shown }: { readonly shown: ReturnType<typeof endedWindow> }) {
  const left = shown.hidden === null ? "more lines" : `${shown.hidden.toLocaleString("en")} more lines`
  return (
    <>
      <TerminalText text={cutWide(shown.head)} />
      <div className={css["gap"]}>{left}</div>
      <TerminalText text={cutWide(shown.tail ?? "")} look={shown.tailLook} />
    </>
  )
}
