/** What a review adds to the rows of a diff: boxes for what was looked at and what is chosen, threads at cells and lines. */

import { useMemo } from "react"

import type { DiffExtras } from "../cells/DiffRows.tsx"
import { sourceHash } from "../core/hash.ts"
import type { CellId, KnownEvent } from "../core/types.gen.ts"
import type { DiffRow } from "../sync/api_diff.ts"
import type { ReviewContent } from "../sync/api_reviews.ts"
import { Button } from "../ui/Button.tsx"
import type { ReviewActs } from "./actions.ts"
import type { ReviewComments, ReviewContext } from "./comments_part.ts"
import { composedPlaces, lineTarget, placeName } from "./places.ts"
import type { Places } from "./places.ts"
import css from "./Review.module.css"

interface Parts {
  readonly context: ReviewContext
  readonly content: ReviewContent | null
  readonly comments: ReviewComments
  readonly places: Places
  /** The versions that this person has looked at. */
  readonly mine: ReadonlyMap<CellId, string>
  /** The numbers of the proposal's parts that were taken out. */
  readonly left: ReadonlySet<number>
  readonly onLeave: (numbers: readonly number[], isChosen: boolean) => void
  readonly isSelectable: boolean
}

export interface RowExtras {
  readonly rows: DiffExtras
  readonly acts: Pick<ReviewActs, "toggleReviewed" | "toggleChosen">
}

export function useExtras({ context, content, comments, places, mine, left, onLeave, isSelectable }: Parts): RowExtras {
  const composed = comments.useComposed(context)
  return useMemo(() => {
    const index = new Map((content?.rows ?? []).map((row, at) => [row.cell, at]))
    const versionOf = (cell: CellId): string => content?.versions[index.get(cell) ?? -1] ?? ""
    const partsOf = (cell: CellId): readonly number[] => content?.parts[index.get(cell) ?? -1] ?? []
    const isReviewed = (cell: CellId): boolean => versionOf(cell) !== "" && mine.get(cell) === versionOf(cell)
    const isChosen = (cell: CellId): boolean => !partsOf(cell).some((number) => left.has(number))
    const mayComment = comments.mayComment(context)
    const open = composedPlaces(content?.rows ?? [], composed)
    const toggleReviewed = (cell: CellId): void => {
      if (!mayComment || versionOf(cell) === "") return
      const event: KnownEvent = { type: "cell_reviewed", cell, version: versionOf(cell), ...(isReviewed(cell) ? { reviewed: false } : {}) }
      context.live.act([event], (outcome) => outcome.kind === "refused" && context.notify({ text: outcome.fault.message }))
    }
    const toggleChosen = (cell: CellId): void => {
      if (isSelectable && partsOf(cell).length) onLeave(partsOf(cell), !isChosen(cell))
    }
    const head = ({ cell }: DiffRow) => (
      <span className={css["boxes"]}>
        {isSelectable && partsOf(cell).length > 0 && (
          <label>
            <input type="checkbox" checked={isChosen(cell)} onChange={() => toggleChosen(cell)} /> Accept
          </label>
        )}
        {mayComment && (
          <label>
            <input type="checkbox" checked={isReviewed(cell)} onChange={() => toggleReviewed(cell)} /> Looked at
          </label>
        )}
      </span>
    )
    const foot = (row: DiffRow) => {
      const threads = places.cells.get(row.cell) ?? []
      const older = threads.filter(({ olderLine }) => olderLine !== null)
      const isComposed = composed.has(`cell:${row.cell}`)
      if (isReviewed(row.cell) && threads.length === 0 && !isComposed) return null
      return (
        <div className={css["foot"]}>
          {older.length > 0 && (
            <p className={css["soft"]}>
              Made on an older version: {older.map(({ thread, olderLine }) => `line ${olderLine} (${thread.first.text.slice(0, 40)})`).join(", ")}
            </p>
          )}
          <comments.Threads context={context} threads={threads.map(({ thread }) => thread)} target={`cell:${row.cell}`} label="Comment on the cell" about={{ cell: row.cell }} />
          {mayComment && !isComposed && (
            <Button kind="quiet" onClick={() => comments.compose(context, `cell:${row.cell}`)}>
              Comment on the cell
            </Button>
          )}
        </div>
      )
    }
    const below: DiffExtras["below"] = ({ row, side, line }) => {
      const name = placeName(row.cell, side, line)
      const threads = places.lines.get(name) ?? []
      if (threads.length === 0 && !open.has(name)) return null
      const about = { cell: row.cell, line, source_hash: sourceHash(row[side]?.source ?? "") }
      return <comments.Threads context={context} threads={threads} target={lineTarget(row, side, line)} label={`Comment on line ${line}, ${side === "old" ? "before" : "after"}`} about={about} />
    }
    return {
      acts: { toggleReviewed, toggleChosen },
      rows: {
        head,
        foot,
        below,
        isFolded: ({ cell }) => isReviewed(cell),
        onLine: mayComment ? ({ row, side, line }) => comments.compose(context, lineTarget(row, side, line)) : null,
      },
    }
  }, [context, content, comments, places, mine, left, onLeave, isSelectable, composed])
}
