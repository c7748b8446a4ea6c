/** An error: what was raised first, then one's own frames; those of libraries are folded. */

import { memo, useMemo, useState } from "react"
import type { CellId, Execution, Raised } from "../core/types.gen.ts"
import { harmless } from "../core/visible.ts"
import { Actions } from "./Actions.tsx"
import type { OutputContext } from "./context.ts"
import { copyText } from "./copy_text.ts"
import { TerminalText } from "./TerminalText.tsx"
import { faultMessage, faultText, readTrace } from "./traceback.ts"
import type { Trace, TraceFrame } from "./traceback.ts"
import css from "./Traceback.module.css"

interface Props {
  readonly raised: Raised
  readonly cell: CellId
  readonly execution: Execution
  readonly context: OutputContext
}

/** A message beyond this is told by its beginning: the whole of it is in the traceback, and copied. */
const LONGEST = 4000

export const Traceback = memo(function Traceback({ raised, cell, execution, context }: Props) {
  const trace = useMemo(() => readTrace(raised.traceback ?? []), [raised])
  const message = harmless(faultMessage(raised))
  const { onGoToLine } = context
  const line = trace.line
  const [name = "", ...rest] = message.slice(0, LONGEST).split(":")
  return (
    <div role="group" className={css["error"]} aria-label={`Error: ${message.slice(0, 200)}`} data-output="error">
      <p className={css["message"]}>
        <strong>{name}</strong>
        {rest.length ? `:${rest.join(":")}` : ""}
      </p>
      <Frames trace={trace} count={execution.count} />
      <Actions items={line !== null && onGoToLine ? [{ label: `Line ${line}`, onClick: () => onGoToLine(cell, line) }] : []}>
        <CopyButton text={faultText(raised)} />
      </Actions>
    </div>
  )
})

function Frames({ trace, count }: { readonly trace: Trace; readonly count: number | null }) {
  if (!trace.frames.length) {
    // Of other kernels nothing is known but that it is text.
    return trace.rest.length ? <TerminalText text={trace.rest.join("\n")} className={css["frame"]} /> : null
  }
  return (
    <>
      {grouped(trace.frames).map((group, at) =>
        group[0]?.isLibrary ? <LibraryFrames key={at} frames={group} /> : group.map((frame, number) => <TerminalText key={`${at}.${number}`} text={named(frame, count)} className={css["frame"]} />),
      )}
    </>
  )
}

/** This cell's own frame says so: the number means nothing to a reader. */
function named(frame: TraceFrame, count: number | null): string {
  return frame.count !== null && frame.count === count ? frame.text.replace(/(Cell[^\n]*?)In\s?\[\d+\]/, "$1above") : frame.text
}

function grouped(frames: readonly TraceFrame[]): TraceFrame[][] {
  const groups: TraceFrame[][] = []
  for (const frame of frames) {
    const last = groups.at(-1)
    if (last && last[0]?.isLibrary === frame.isLibrary) last.push(frame)
    else groups.push([frame])
  }
  return groups
}

function LibraryFrames({ frames }: { readonly frames: readonly TraceFrame[] }) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <details className={css["library"]} open={isOpen} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>{frames.length === 1 ? "1 frame of a library" : `${frames.length} frames of libraries`}</summary>
      {isOpen && frames.map((frame, at) => <TerminalText key={at} text={frame.text} className={css["frame"]} />)}
    </details>
  )
}

function CopyButton({ text }: { readonly text: string }) {
  const [isCopied, setIsCopied] = useState(false)
  const copy = (): void => {
    void copyText(text).then(() => setIsCopied(true))
  }
  return (
    <button type="button" className={css["copy"]} onClick={copy}>
      {isCopied ? "Copied" : "Copy"}
    </button>
  )
}
