/** The source of a cell: highlighted text, or the editor in its place; Markdown as it reads. */

import { createElement, memo, useCallback, useEffect, useMemo } from "react"
import type { MouseEvent, ReactNode } from "react"
import { attachmentsOf } from "../actions/cell_edits.ts"
import type { CursorPlace } from "../actions/view.ts"
import { sourceHash } from "../core/hash.ts"
import type { Cell, CellId } from "../core/types.gen.ts"
import { StaticCode } from "../editor/StaticCode.tsx"
import type { LineMark } from "../editor/StaticCode.tsx"
import { MarkdownText } from "../outputs/MarkdownText.tsx"
import type { OutputContext } from "../outputs/context.ts"
import { errorLine } from "../outputs/error_line.ts"
import { useCell, useValue } from "../hooks/values.ts"
import { Value } from "../sync/store.ts"
import styles from "./Cell.module.css"
import type { Page } from "./page.ts"
import { useLanguage } from "./use_page.ts"

/**
 * The editor, once it is loaded. Not `lazy`: that shows what was there before for a moment, even when the code is there,
 * and keys that are pressed in that moment would be lost.
 */
const editor = new Value<((props: EditedProps) => ReactNode) | null>(null)

/** What is called before the editor is first shown, whichever of several attempts has fetched it. */
const beforeShown = new Set<() => void>()

/** Fetch the editor while nothing else is to be done. */
export function prefetchEditor(): void {
  loadEditor().catch(() => undefined)
}

async function loadEditor(): Promise<void> {
  if (editor.get()) return
  const { default: edited } = await import("./EditedCell.tsx")
  if (editor.get()) return
  for (const call of beforeShown) call()
  editor.set(edited)
}

interface Props {
  readonly page: Page
  readonly cell: Cell
  readonly isEdited: boolean
  readonly initial: CursorPlace
  readonly isFolded: boolean
  readonly context: OutputContext
}

export const CellSource = memo(function CellSource({ page, cell, isEdited, initial, isFolded, context }: Props) {
  const language = useLanguage(page.live)
  const shown = cell.kind === "code" ? language : cell.kind
  if (isEdited && page.mayEdit) return <EditedSource page={page} cell={cell} language={shown} initial={initial} />
  if (isFolded) return <FoldedSource page={page} cell={cell} />
  if (cell.kind === "markdown") return <RenderedMarkdown page={page} cell={cell} context={context} />
  return <StaticSource page={page} cell={cell} language={shown} />
})

export interface EditedProps {
  readonly page: Page
  readonly cell: Cell
  readonly language: string
  readonly initial: CursorPlace
  readonly marks: readonly LineMark[]
}

function EditedSource({ page, cell, language, initial }: Omit<EditedProps, "marks">) {
  const edited = useValue(editor)
  const { id } = cell
  const marks = useErrorMarks(cell)
  useEffect(() => {
    const failed = (): void => page.notify({ text: "The editor could not be loaded. Load the page again; nothing is lost." })
    const typeEarly = (): void => page.typeEarly(id, initial)
    beforeShown.add(typeEarly)
    loadEditor().catch(failed)
    return () => void beforeShown.delete(typeEarly)
  }, [page, id, initial])
  return (
    <div className={styles["source"]} data-editor>
      {edited ? createElement(edited, { page, cell, language, initial, marks }) : <TypedEarly page={page} id={id} language={language} marks={marks} />}
    </div>
  )
}

/** What is typed before the editor is there, as text: the row itself is not drawn again while somebody types. */
function TypedEarly({ page, id, language, marks }: Pick<EditedProps, "page" | "language" | "marks"> & { readonly id: CellId }) {
  const cell = useCell(page.live, id)
  return <StaticCode source={cell?.source ?? ""} language={language} marks={marks} />
}

function StaticSource({ page, cell, language }: { readonly page: Page; readonly cell: Cell; readonly language: string }) {
  const { id, source } = cell
  const marks = useErrorMarks(cell)
  return (
    <div className={styles["source"]} data-source onClick={(event) => editAtClick(event, page, id)}>
      <StaticCode source={source} language={language} marks={marks} />
    </div>
  )
}

/** The line that failed, as long as the source is the one that was run. */
function useErrorMarks({ execution, source }: Cell): readonly LineMark[] {
  const line = useMemo(() => (execution?.source_hash === sourceHash(source) ? errorLine(execution) : null), [execution, source])
  return useMemo(() => (line === null ? [] : [{ line, kind: "error" as const }]), [line])
}

/** A click puts the cursor where it was; a press that selected text leaves it selected. */
function editAtClick(event: MouseEvent, page: Page, id: CellId): void {
  const selection = document.getSelection()
  if (event.button !== 0 || event.shiftKey || (selection && !selection.isCollapsed)) return
  if (page.mayEdit) page.view.edit(id, { x: event.clientX, y: event.clientY })
}

function RenderedMarkdown({ page, cell, context }: { readonly page: Page; readonly cell: Cell; readonly context: OutputContext }) {
  const attachments = useMemo(() => attachmentsOf(cell), [cell])
  const edit = useCallback(() => {
    if (page.mayEdit) page.view.edit(cell.id, "start")
  }, [page, cell.id])
  return (
    <div className={styles["markdown"]} data-source onDoubleClick={edit}>
      {cell.source.trim() ? (
        <MarkdownText source={cell.source} attachments={attachments} context={context} />
      ) : (
        <p className={styles["empty"]}>Empty text. Press Enter to write.</p>
      )}
    </div>
  )
}

function FoldedSource({ page, cell }: { readonly page: Page; readonly cell: Cell }) {
  const lines = cell.source.split("\n")
  return (
    <button type="button" className={styles["folded"]} onClick={() => unfold(page, cell.id)}>
      <code>{lines.find((line) => line.trim()) ?? ""}</code>
      <span>{lines.length === 1 ? "folded" : `${lines.length} lines folded`}</span>
    </button>
  )
}

function unfold(page: Page, id: CellId): void {
  page.view.press(id)
  page.doNamed("cell.fold_source")
}
