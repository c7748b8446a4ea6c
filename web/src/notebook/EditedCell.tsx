/** The cell that is edited: connects the editor with the notebook, its kernel, and those who are in the cell too. */

import { useEffect, useMemo } from "react"
import type { Cell } from "../core/types.gen.ts"
import CellEditor from "../editor/CellEditor.tsx"
import type { CellEditorProps } from "../editor/props.ts"
import { attachFiles } from "./attachments.ts"
import type { EditedProps } from "./CellSource.tsx"
import { KernelQuestions } from "./kernel_questions.ts"
import type { Page } from "./page.ts"
import { CellPeers } from "./peers.ts"

type Wiring = Pick<CellEditorProps, "readSource" | "watch" | "onType" | "onSelection" | "onKey" | "peers" | "complete" | "inspect" | "whenKernelReady" | "onPasteFiles">

export default function EditedCell({ page, cell, language, initial, marks }: EditedProps) {
  const { id, kind } = cell
  const wiring = useMemo(() => wire(page, id), [page, id])
  useEffect(
    () => () => {
      page.place = null
      page.live.flush()
      page.presence.move(page.focused())
    },
    [page, id],
  )
  return (
    <CellEditor
      key={`${id} ${kind}`}
      cell={id}
      kind={kind}
      language={language}
      log={page.log}
      source={cell.source}
      initial={initial}
      marks={marks}
      nonce={page.nonce}
      placeholder={PLACEHOLDERS[kind] ?? ""}
      {...wiring}
    />
  )
}

const PLACEHOLDERS: Partial<Record<Cell["kind"], string>> = {
  markdown: "Markdown",
  sql: "SELECT … FROM a data frame or a file",
}

function wire(page: Page, id: string): Wiring {
  const { live, lanes, presence } = page
  const kernel = new KernelQuestions({ live, lanes, clock: page.parts.clock })
  return {
    readSource: () => live.store.cell(id)?.source ?? "",
    watch: (listener) => live.watchText(id, listener),
    onType: (edit) => live.type(id, edit),
    onSelection: (selection) => presence.move(id, selection && { ...selection, seq: live.seq }),
    onKey: (event, place) => {
      page.place = place
      return page.keyboard.handle(event, "edit", page.actions)
    },
    peers: new CellPeers(presence, id),
    complete: (code, position) => kernel.complete(code, position),
    inspect: (code, position, detail) => kernel.inspect(code, position, detail),
    whenKernelReady: (then) => kernel.whenReady(then),
    onPasteFiles: (files) => attachFiles(page, id, files),
  }
}
