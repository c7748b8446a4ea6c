/** The windows of home: open from the folder, rename, a name that is taken, keys. */

import { useEffect, useState } from "react"

import type { NotebookFile, NotebookSummary } from "../sync/api_types.ts"
import type { OpenParts } from "../sync/open.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { TextField } from "../ui/Field.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Kbd } from "../ui/Kbd.tsx"
import { Time } from "../ui/Time.tsx"
import css from "./Home.module.css"
import { faultText } from "./use_acts.ts"
import type { Acts } from "./use_acts.ts"
import { HOME_KEYS } from "./use_home_keys.ts"

export type HomeDialog =
  | { readonly kind: "open" }
  | { readonly kind: "keys" }
  | { readonly kind: "rename"; readonly notebook: NotebookSummary }
  /** A file was dropped whose notebook's name there is; `name` is free. */
  | { readonly kind: "taken"; readonly file: File; readonly name: string }

export interface HomeDialogsProps {
  readonly dialog: HomeDialog | null
  readonly parts: OpenParts
  readonly acts: Acts
  readonly onClose: () => void
}

export function HomeDialogs({ dialog, parts, acts, onClose }: HomeDialogsProps) {
  switch (dialog?.kind) {
    case undefined:
      return null
    case "open":
      return <OpenDialog parts={parts} acts={acts} onClose={onClose} />
    case "keys":
      return <KeysDialog onClose={onClose} />
    case "rename": {
      const { notebook } = dialog
      return (
        <NameDialog title={`Rename ${notebook.name}`} name={notebook.name} button="Rename" onClose={onClose} onName={(name) => acts.rename(notebook, name)} />
      )
    }
    case "taken": {
      const { file, name } = dialog
      return (
        <NameDialog
          title="There is a notebook of that name"
          help={`${file.name} is taken in beside it, under another name.`}
          name={name}
          button="Take in"
          onClose={onClose}
          onName={(chosen) => acts.takeInAs(file, chosen)}
        />
      )
    }
  }
}

interface NameDialogProps {
  readonly title: string
  readonly help?: string
  readonly name: string
  readonly button: string
  readonly onClose: () => void
  readonly onName: (name: string) => void
}

function NameDialog({ title, help, name, button, onClose, onName }: NameDialogProps) {
  const [typed, setTyped] = useState(name)
  const isName = typed.trim() !== ""
  return (
    <Dialog
      isOpen
      title={title}
      onClose={onClose}
      onSubmit={() => {
        if (!isName) return
        onName(typed.trim())
        onClose()
      }}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={!isName}>
            {button}
          </Button>
        </>
      }
    >
      <TextField
        label="Name"
        help={help}
        value={typed}
        data-autofocus
        onFocus={(event) => event.target.select()}
        onChange={(event) => setTyped(event.target.value)}
      />
    </Dialog>
  )
}

/** Notebook files of the folder: those that are no notebook yet are taken in and bound, the others opened. */
function OpenDialog({ parts, acts, onClose }: { readonly parts: OpenParts; readonly acts: Acts; readonly onClose: () => void }) {
  const [files, setFiles] = useState<readonly NotebookFile[] | null>(null)
  const [fault, setFault] = useState<string | null>(null)
  const [filter, setFilter] = useState("")
  useEffect(() => {
    parts.api.files().then(setFiles, (error: unknown) => setFault(faultText(error)))
  }, [parts])
  const shown = files?.filter(({ path }) => path.toLowerCase().includes(filter.trim().toLowerCase())) ?? []
  const open = (file: NotebookFile | undefined): void => {
    if (!file) return
    onClose()
    if (file.notebook) acts.open(file.notebook)
    else acts.openFile(file.path)
  }
  return (
    <Dialog isOpen title="Open from the folder" onClose={onClose} onSubmit={() => open(shown[0])}>
      <TextField label="File" type="search" placeholder="Filter" value={filter} error={fault} data-autofocus onChange={(event) => setFilter(event.target.value)} />
      <ul className={css["files"]} aria-label="Files" onKeyDown={moveInList}>
        {shown.map((file) => (
          <li key={file.path}>
            <button type="button" onClick={() => open(file)}>
              <Icon name={file.notebook ? "notebook" : "file"} />
              <span className={css["path"]}>{file.path}</span>
              <span className={css["aside"]}>{file.notebook ? "notebook" : <Time at={file.modified} />}</span>
            </button>
          </li>
        ))}
      </ul>
      {files && shown.length === 0 && (
        <p className={css["aside"]}>{files.length ? "No file of that name. A part of it is enough." : "The folder of this server has no .ipynb, .py or .md notebook. Drop one onto the page, or begin a new one."}</p>
      )}
    </Dialog>
  )
}

function moveInList(event: React.KeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (step === undefined) return
  event.preventDefault()
  const buttons = [...event.currentTarget.querySelectorAll("button")]
  buttons[buttons.indexOf(document.activeElement as HTMLButtonElement) + step]?.focus()
}

function KeysDialog({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog isOpen title="Keys" onClose={onClose}>
      <dl className={css["keys"]}>
        {HOME_KEYS.map(({ keys, title }) => (
          <div key={keys} className={css["contents"]}>
            <dt>
              <Kbd keys={keys} />
            </dt>
            <dd>{title}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
