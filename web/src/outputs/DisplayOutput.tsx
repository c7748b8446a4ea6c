/** One display: its results, and the form of it that is shown. */

import { memo, useMemo } from "react"
import type { Display, Json } from "../core/types.gen.ts"
import { Actions, Notice } from "./Actions.tsx"
import { bytesOf, isInline, wholeText } from "./bytes.ts"
import type { OutputContext } from "./context.ts"
import { DataTable } from "./DataTable.tsx"
import { download } from "./download.ts"
import { Frame } from "./Frame.tsx"
import { JsonTree } from "./JsonTree.tsx"
import { Latex } from "./Latex.tsx"
import { MarkdownText } from "./MarkdownText.tsx"
import { choose, isResult, isStill, mediaOf, resultsIn, textOf } from "./media.ts"
import type { Choice } from "./media.ts"
import { Picture } from "./Picture.tsx"
import type { Content } from "./protocol.ts"
import { Results } from "./Results.tsx"
import { cutWide, textWindow } from "./stream_window.ts"
import { StreamOutput } from "./Stream.tsx"
import { readTable } from "./table_read.ts"
import { TerminalText } from "./TerminalText.tsx"
import { useLoaded } from "./use_loaded.ts"
import { untagged } from "./value_text.ts"
import { Widget } from "./Widget.tsx"

interface Props {
  readonly display: Display
  /** Names the output among all of the notebook. */
  readonly name: string
  /** The same for people: `cell load, output 2`. */
  readonly label: string
  readonly context: OutputContext
}

interface ViewProps extends Props {
  readonly choice: Choice
}

export const DisplayOutput = memo(function DisplayOutput({ display, name, label, context }: Props) {
  const choice = useMemo(() => choose(display), [display])
  const kept = Object.keys(display.blobs ?? {}).filter(isResult)
  return (
    <>
      {kept.length ? <KeptResults display={display} kept={kept} context={context} /> : <InlineResults display={display} />}
      {choice && <DisplayView display={display} name={name} label={label} choice={choice} context={context} />}
    </>
  )
})

function InlineResults({ display }: { readonly display: Display }) {
  const results = useMemo(() => resultsIn(display), [display])
  return results.length > 0 && <Results results={results} />
}

/** Large results are in blobs, and so is JSON that could be mistaken for a tagged value. */
function KeptResults({ display, kept, context }: { readonly display: Display; readonly kept: readonly string[]; readonly context: OutputContext }) {
  const loaded = useLoaded(display, async (): Promise<Display> => {
    const values = await Promise.all(kept.map(async (media) => [media, parsed(await wholeText(display, media, context))] as const))
    return { ...display, data: { ...display.data, ...Object.fromEntries(values) } }
  })
  return loaded.state === "there" && <InlineResults display={loaded.value} />
}

function DisplayView(props: ViewProps) {
  const { display, choice, context } = props
  switch (choice.view) {
    case "picture":
      return <Picture display={display} media={choice.media} context={context} />
    case "widget":
      return <Widget display={display} context={context} />
    case "pdf":
    case "other":
      return <Download {...props} />
    case "json":
      return <WithText {...props} show={(text) => <JsonTree value={isInline(display, choice.media) ? untagged(parsed(text)) : parsed(text)} />} />
    case "plain":
      return <WithText {...props} show={(text) => <PlainText text={text} name={props.name} context={context} />} />
    case "markdown":
      return <WithText {...props} show={(text) => <MarkdownText source={text} />} />
    case "latex":
      return <WithText {...props} show={(text) => <Latex source={text} />} />
    case "html":
      return <WithText {...props} show={(text) => <Html {...props} html={text} />} />
    case "svg":
      return <WithText {...props} show={(text) => (isStill(text) ? <Picture display={display} media={choice.media} context={context} /> : <FramedView {...props} guess={240} />)} />
    case "vega":
    case "plotly":
      return <FramedView {...props} guess={choice.view === "vega" ? 320 : 450} />
    case "javascript":
    case "sound":
      return <FramedView {...props} guess={40} />
  }
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}

// ---- Text

/** Show a medium that is text: at once where it is inline, else when its blob is there. */
function WithText({ display, choice, context, show }: ViewProps & { readonly show: (text: string) => React.ReactNode }) {
  const inline = isInline(display, choice.media)
  const text = useMemo(() => (inline ? inlineText(display, choice) : ""), [inline, display, choice])
  if (inline) return show(text)
  return <Fetched display={display} choice={choice} context={context} show={show} />
}

function inlineText(display: Display, { view, media }: Choice): string {
  const value = display.data?.[media]
  return view === "json" ? JSON.stringify(value) : textOf(value)
}

function Fetched({ display, choice, context, show }: Omit<ViewProps, "name" | "label"> & { readonly show: (text: string) => React.ReactNode }) {
  const loaded = useLoaded(display, () => wholeText(display, choice.media, context))
  if (loaded.state === "failed") return <Notice text={loaded.message} isError />
  if (loaded.state === "there") return show(loaded.value)
  // An excerpt is inline beside a blob.
  return <TerminalText text={cutWide(textWindow(textOf(display.data?.["text/plain"])).head)} />
}

/** A long repr is folded as a long stream is. */
function PlainText({ text, name, context }: { readonly text: string; readonly name: string; readonly context: OutputContext }) {
  const stream = useMemo(() => ({ kind: "stream", name: "stdout", head: text }) as const, [text])
  return <StreamOutput stream={stream} name={name} isRunning={false} context={context} />
}

function Html(props: ViewProps & { readonly html: string }) {
  const { html } = props
  const table = useMemo(() => readTable(html), [html])
  return table ? <DataTable table={table} /> : <FramedView {...props} guess={guessHeight(html)} />
}

/** How high HTML will be, roughly. */
function guessHeight(html: string): number {
  const rows = (html.match(/<(?:tr|p|li|h[1-6]|br)\b/gi) ?? []).length
  return Math.min(Math.max(40, rows * 26), 400)
}

// ---- Frames

const TITLES: Partial<Record<Choice["view"], string>> = { vega: "Chart", plotly: "Chart", svg: "Drawing", javascript: "Script output", sound: "Player" }

function FramedView({ display, name, label, choice, context, guess }: ViewProps & { readonly guess: number }) {
  return (
    <Frame
      name={name}
      source={display}
      content={() => contentOf(display, choice, context)}
      title={`${TITLES[choice.view] ?? "HTML"} of ${label}`}
      context={context}
      guess={guess}
    />
  )
}

async function contentOf(display: Display, { view, media }: Choice, context: OutputContext): Promise<Content> {
  if (view === "sound") return { kind: "sound", media, blob: await bytesOf(display, media, context) }
  const text = isInline(display, media) && (view === "vega" || view === "plotly") ? "" : await wholeText(display, media, context)
  const json = text ? parsed(text) : untagged(display.data?.[media] ?? null)
  switch (view) {
    case "vega":
      return { kind: "vega", spec: json, options: display.metadata?.[media] ?? null }
    case "plotly":
      return { kind: "plotly", figure: json }
    case "svg":
      return { kind: "svg", svg: text }
    case "javascript":
      return { kind: "javascript", code: text }
    default:
      return { kind: "html", html: text }
  }
}

// ---- What a page cannot show

function Download({ display, choice, context }: ViewProps) {
  const { media } = choice
  const plain = textOf(display.data?.["text/plain"])
  const name = `output.${media === "application/pdf" ? "pdf" : "bin"}`
  const save = (): void => {
    void bytesOf(display, media, context).then((bytes) => download(bytes, name))
  }
  return (
    <>
      {plain && <TerminalText text={plain} />}
      <Actions says={`${mediaOf(display).join(", ")}: not shown in a page.`} items={[{ label: "Download", onClick: save }]} />
    </>
  )
}
