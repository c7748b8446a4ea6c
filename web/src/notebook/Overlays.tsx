/** What is open over the page: palette, keys, questions, names and tags. Each is a dialog that gives the focus back. */

import { lazy, Suspense, useState } from "react"
import type { CellId } from "../core/types.gen.ts"
import { useValue } from "../hooks/values.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { TextField } from "../ui/Field.tsx"
import type { Overlay, Page } from "./page.ts"

const Palette = lazy(() => import("./Palette.tsx"))
const KeysSheet = lazy(() => import("./KeysSheet.tsx"))

export function Overlays({ page }: { readonly page: Page }) {
  const overlay = useValue(page.overlay)
  const hasPanels = useValue(page.hasPanels)
  if (!overlay || overlay.kind === "menu") return null
  // They list what panels bring.
  if (!hasPanels && (overlay.kind === "palette" || overlay.kind === "keys")) return null
  return <Suspense fallback={null}>{shown(page, overlay)}</Suspense>
}

function shown(page: Page, overlay: Exclude<Overlay, { kind: "menu" }>) {
  const close = (): void => page.overlay.set(null)
  switch (overlay.kind) {
    case "palette":
      return <Palette page={page} onClose={close} />
    case "keys":
      return <KeysSheet page={page} onClose={close} />
    case "question":
      return <QuestionDialog {...overlay} />
    case "name":
      return <NameDialog page={page} cell={overlay.cell} onClose={close} />
    case "tags":
      return <TagsDialog page={page} cell={overlay.cell} onClose={close} />
    case "notebook_name":
      return <NotebookNameDialog page={page} onClose={close} />
    case "menu":
      return null
  }
}

function QuestionDialog({ question, answer }: Extract<Overlay, { kind: "question" }>) {
  return (
    <Dialog
      title={question.title}
      isOpen
      onClose={() => answer(false)}
      onSubmit={() => answer(true)}
      footer={
        <>
          <Button onClick={() => answer(false)}>Cancel</Button>
          <Button kind={question.isDangerous ? "danger" : "primary"} type="submit">
            {question.yes}
          </Button>
        </>
      }
    >
      <p>{question.text}</p>
    </Dialog>
  )
}

interface FormProps {
  readonly title: string
  readonly label: string
  readonly help: string
  readonly value: string
  readonly onSave: (value: string) => void
  readonly onClose: () => void
}

function FormDialog({ title, label, help, value, onSave, onClose }: FormProps) {
  const [text, setText] = useState(value)
  const save = (): void => {
    onClose()
    onSave(text)
  }
  const footer = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button kind="primary" type="submit">
        Save
      </Button>
    </>
  )
  return (
    <Dialog title={title} isOpen onClose={onClose} onSubmit={save} footer={footer}>
      <TextField
        label={label}
        help={help}
        value={text}
        data-autofocus
        spellCheck={false}
        onFocus={(event) => event.target.select()}
        onChange={(event) => setText(event.target.value)}
      />
    </Dialog>
  )
}

interface CellDialogProps {
  readonly page: Page
  readonly cell: CellId
  readonly onClose: () => void
}

function NameDialog({ page, cell, onClose }: CellDialogProps) {
  const now = page.live.store.cell(cell)
  const save = (text: string): void => {
    const name = text.trim() || null
    if (now && name !== now.name) page.history.do("Named a cell", [{ type: "cell_named", cell, name }])
  }
  const help = now?.kind === "sql" ? "The variable that has the result of the query." : "Other cells and agents call it by this name. Empty for none."
  const title = now?.kind === "sql" ? "Name of the result" : "Name of the cell"
  return <FormDialog title={title} label="Name" help={help} value={now?.name ?? ""} onSave={save} onClose={onClose} />
}

function TagsDialog({ page, cell, onClose }: CellDialogProps) {
  const now = page.live.store.cell(cell)
  const save = (text: string): void => {
    const tags = [...new Set(text.split(",").map((tag) => tag.trim()))].filter(Boolean)
    if (now && tags.join(",") !== now.tags.join(",")) page.history.do("Tagged a cell", [{ type: "cell_tagged", cell, tags }])
  }
  const help = "With commas between them. The cell tagged `parameters` has the parameters of a run."
  return <FormDialog title="Tags" label="Tags" help={help} value={now?.tags.join(", ") ?? ""} onSave={save} onClose={onClose} />
}

function NotebookNameDialog({ page, onClose }: { readonly page: Page; readonly onClose: () => void }) {
  const name = page.live.store.field("name")
  const save = (text: string): void => {
    const next = text.trim()
    if (next && next !== name) page.live.act([{ type: "notebook_renamed", name: next }], (outcome) => page.tellRefused(outcome))
  }
  return <FormDialog title="Rename the notebook" label="Name" help="" value={name} onSave={save} onClose={onClose} />
}
