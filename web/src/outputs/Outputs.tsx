/** What one execution of a cell showed, in the order in which it did. */

import { memo, useEffect, useRef, useState } from "react"
import { cutSize } from "../core/cut_outputs.ts"
import type { CellId, Execution, Output } from "../core/types.gen.ts"
import { Notice } from "./Actions.tsx"
import type { OutputContext } from "./context.ts"
import { DisplayOutput } from "./DisplayOutput.tsx"
import { byteSize } from "./media.ts"
import { outputName } from "./shown_place.ts"
import { StreamOutput } from "./Stream.tsx"
import { Traceback } from "./Traceback.tsx"
import css from "./Outputs.module.css"

export type { OutputContext } from "./context.ts"

interface Props {
  readonly cell: CellId
  readonly execution: Execution
  readonly context: OutputContext
  readonly isRunning: boolean
}

export const Outputs = memo(function Outputs({ cell, execution, context, isRunning }: Props) {
  const [whole, setWhole] = useState<Execution | null>(null)
  const shown = whole?.id === execution.id && whole.chunk >= execution.chunk ? whole : execution
  const last = shown.outputs.length - 1
  return (
    <div className={css["outputs"]}>
      {shown.outputs.map((output, at) => (
        <div key={keyOf(output, at)} className={css["output"]}>
          {cutSize(output) ? (
            <CutOutput size={cutSize(output)} execution={shown} context={context} onWhole={setWhole} />
          ) : (
            <OneOutput output={output} at={at} cell={cell} execution={shown} context={context} isRunning={isRunning && at === last} />
          )}
        </div>
      ))}
    </div>
  )
})

/** A display that is updated keeps its place; what is after a change of kind begins anew. */
function keyOf(output: Output, at: number): string {
  return `${at}.${output.kind}`
}

interface OneOutputProps extends Props {
  readonly output: Output
  readonly at: number
}

function OneOutput({ output, at, cell, execution, context, isRunning }: OneOutputProps) {
  const name = outputName(context.log, cell, execution.id, at)
  switch (output.kind) {
    case "stream":
      return <StreamOutput stream={output} name={name} isRunning={isRunning} context={context} />
    case "error":
      return <Traceback raised={output} cell={cell} execution={execution} context={context} />
    case "display":
      return <DisplayOutput display={output} name={name} label={`cell ${cell}, output ${at + 1}`} context={context} />
  }
}

interface CutProps {
  readonly size: number
  readonly execution: Execution
  readonly context: OutputContext
  readonly onWhole: (execution: Execution) => void
}

/** Outputs that were left out when the notebook was opened are fetched when one comes near. */
function CutOutput({ size, execution, context, onWhole }: CutProps) {
  const place = useRef<HTMLDivElement>(null)
  const [problem, setProblem] = useState("")
  const { whole } = context
  useEffect(() => {
    const element = place.current
    if (!element || !whole) return
    const fetchWhole = (): void => {
      whole(execution.id).then(onWhole, (error: unknown) => setProblem(error instanceof Error ? error.message : String(error)))
    }
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return
        observer.disconnect()
        fetchWhole()
      },
      { rootMargin: "1000px 0px" },
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [whole, execution.id, onWhole])
  return (
    <div ref={place} className={css["cut"]}>
      <Notice text={problem || `${byteSize(size)} of output${whole ? "" : " were left out"}`} isError={Boolean(problem)} />
    </div>
  )
}
