/** What a cell showed, and what it asks while it runs. */

import { useEffect, useRef } from "react"
import type { Cell } from "../core/types.gen.ts"
import { useAsked } from "../hooks/values.ts"
import { Outputs } from "../outputs/Outputs.tsx"
import type { OutputContext } from "../outputs/context.ts"
import styles from "./Cell.module.css"
import { CellPrompt } from "./CellPrompt.tsx"
import type { Page } from "./page.ts"

interface Props {
  readonly page: Page
  readonly cell: Cell
  readonly context: OutputContext
  readonly isFolded: boolean
}

export function CellOutputs({ page, cell, context, isFolded }: Props) {
  const element = useHeldHeight(page, cell.id)
  const { execution } = cell
  const isRunning = execution?.state === "running"
  const prompt = useAsked(page.lanes.prompts, (prompts) => (isRunning ? prompts.get(execution.id) : undefined))
  if (!execution) return <div ref={element} />
  const hasOutputs = execution.outputs.length > 0 || isRunning
  return (
    <div ref={element} className={styles["outputs"]} data-outputs>
      {isFolded && execution.outputs.length > 0 ? (
        <FoldedOutputs page={page} cell={cell} count={execution.outputs.length} />
      ) : (
        hasOutputs && <Outputs cell={cell.id} execution={execution} context={context} isRunning={isRunning} />
      )}
      {prompt && <CellPrompt key={prompt.question} page={page} execution={execution} prompt={prompt} />}
    </div>
  )
}

function FoldedOutputs({ page, cell, count }: { readonly page: Page; readonly cell: Cell; readonly count: number }) {
  const show = (): void => {
    page.view.press(cell.id)
    page.doNamed("cell.fold_output")
  }
  return (
    <button type="button" className={styles["folded"]} onClick={show}>
      <span>{count === 1 ? "1 output folded" : `${count} outputs folded`}</span>
    </button>
  )
}

/**
 * A cell that runs again keeps the height of what it showed until it has ended: its outputs go when it begins, and the
 * page below would jump up and down again. Measured before React draws, at the change that begins it.
 */
function useHeldHeight(page: Page, id: string) {
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => {
    let running = page.live.store.cell(id)?.execution?.id
    return page.live.store.subscribeCell(id, () => {
      const execution = page.live.store.cell(id)?.execution
      const box = element.current
      if (!box || !execution) return
      if (execution.id !== running) {
        running = execution.id
        box.style.minHeight = `${box.offsetHeight}px`
      } else if (execution.state !== "running" && box.style.minHeight) requestAnimationFrame(() => (box.style.minHeight = ""))
    })
  }, [page, id])
  return element
}
