/**
 * The cells, all of them in the page; the browser draws those that are in view.
 *
 * The first ones are there at once, the rest follows in slices while the browser has nothing else to do. Cells that move
 * keep the frames of their outputs: `parkFrames` before React moves them, `unparkFrames` after.
 */

import { Component, createRef, memo, useEffect, useState } from "react"
import type { ReactNode } from "react"
import type { CellId, CellKind } from "../core/types.gen.ts"
import { useLiveOrder, useValue } from "../hooks/values.ts"
import { parkFrames, unparkFrames } from "../outputs/frames.ts"
import type { OutputContext } from "../outputs/context.ts"
import { Button } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { CellRow } from "./CellRow.tsx"
import { listenForDrags } from "./cell_drag.ts"
import { holdFocused } from "./hold_focus.ts"
import { guessedHeight } from "./row_height.ts"
import { sectionsOf } from "./sections.ts"
import type { Section } from "./sections.ts"
import styles from "./Page.module.css"
import type { Page } from "./page.ts"

const FIRST = 30
const SLICE = 80
/** A notebook of at most so many cells is one list to the browser. */
const SHORT = 60

interface Props {
  readonly page: Page
  readonly outputs: OutputContext
}

export function CellList({ page, outputs }: Props) {
  const order = useLiveOrder(page.live)
  const focus = useValue(page.view.focus)
  const count = useSlices(order.length)
  // A cell that somebody goes to is there, whatever is still to come.
  const needed = focus === null ? 0 : order.indexOf(focus) + FIRST
  const shown = order.slice(0, Math.max(count, needed))
  const sections = useSections(shown)
  return (
    <>
      <Rows page={page} order={shown}>
        {sections.map((section) => (
          <SectionRows key={section.key} page={page} section={section} outputs={outputs} isLong={shown.length > SHORT} />
        ))}
      </Rows>
      {shown.length === order.length && <AddRow page={page} last={order.at(-1) ?? null} />}
    </>
  )
}

/** The cells in sections: the same objects where nothing changed. */
function useSections(order: readonly CellId[]): readonly Section[] {
  const [update] = useState(() => {
    let sections: readonly Section[] = []
    return (next: readonly CellId[]) => (sections = sectionsOf(next, sections))
  })
  return update(order)
}

interface SectionProps extends Props {
  readonly section: Section
  readonly isLong: boolean
}

const SectionRows = memo(function SectionRows({ page, section, outputs, isLong }: SectionProps) {
  const rows = section.cells.map((id) => <CellRow key={id} page={page} id={id} outputs={outputs} />)
  const height = section.cells.reduce((sum, id) => sum + guessedHeight(page.live.store.cell(id)), 0)
  return (
    <div role="none" className={styles["section"]} data-long={isLong || undefined} style={{ containIntrinsicBlockSize: `auto ${height}px` }}>
      {rows}
    </div>
  )
})

/** How many cells are drawn: a few at once, more in each idle moment. */
function useSlices(total: number): number {
  const [count, setCount] = useState(FIRST)
  const isMore = count < total
  useEffect(() => {
    if (!isMore) return undefined
    const next = (): void => setCount((before) => before + SLICE)
    if (!("requestIdleCallback" in globalThis)) {
      const timer = setTimeout(next, 30)
      return () => clearTimeout(timer)
    }
    const idle = requestIdleCallback(next, { timeout: 200 })
    return () => cancelIdleCallback(idle)
  }, [isMore, count])
  return count
}

interface RowsProps {
  readonly page: Page
  readonly order: readonly CellId[]
  readonly children: ReactNode
}

/** A class, because only that is called before React moves what is in the page. */
class Rows extends Component<RowsProps> {
  readonly #element = createRef<HTMLDivElement>()

  #release: () => void = () => undefined

  override componentDidMount(): void {
    const element = this.#element.current
    if (!element) return
    const stops = [holdFocused(this.props.page, element), listenForDrags(this.props.page, element)]
    this.#release = () => stops.forEach((stop) => stop())
  }

  override componentWillUnmount(): void {
    this.#release()
  }

  override getSnapshotBeforeUpdate(before: RowsProps): boolean {
    const element = this.#element.current
    const isMoved = element !== null && before.order !== this.props.order && hasMoved(before.order, this.props.order)
    if (isMoved) parkFrames(element)
    return isMoved
  }

  override componentDidUpdate(_props: RowsProps, _state: unknown, isMoved: boolean): void {
    if (isMoved && this.#element.current) unparkFrames(this.#element.current)
  }

  override render(): ReactNode {
    return (
      <div ref={this.#element} role="list" aria-label="Cells" data-cells>
        {this.props.children}
      </div>
    )
  }
}

/** Whether cells that stay changed places; added and removed ones move no other. */
function hasMoved(before: readonly CellId[], after: readonly CellId[]): boolean {
  const stays = new Set(after)
  const was = new Set(before)
  const [one, other] = [before.filter((id) => stays.has(id)), after.filter((id) => was.has(id))]
  return one.some((id, index) => id !== other[index])
}

const KINDS: readonly (readonly [CellKind, string, "code" | "text" | "database"])[] = [
  ["code", "Code", "code"],
  ["markdown", "Markdown", "text"],
  ["sql", "SQL", "database"],
]

function AddRow({ page, last }: { readonly page: Page; readonly last: CellId | null }) {
  if (!page.mayEdit) return last === null ? <p data-empty>This notebook is empty.</p> : null
  return (
    <div className={styles["add"]} data-empty={last === null || undefined}>
      {last === null && <p>An empty notebook. Add the first cell:</p>}
      {KINDS.map(([kind, title, icon]) => (
        <Button key={kind} kind="quiet" icon={<Icon name={icon} size={14} />} onClick={() => page.add(last, kind)}>
          {title}
        </Button>
      ))}
    </div>
  )
}
