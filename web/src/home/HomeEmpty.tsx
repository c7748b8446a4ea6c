/** Home of a workspace in which there is nothing yet. */

import { useRef } from "react"

import { Button } from "../ui/Button.tsx"
import { EmptyState } from "../ui/EmptyState.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Mark } from "../ui/Mark.tsx"
import type { HomeDialog } from "./HomeDialogs.tsx"
import type { Acts } from "./use_acts.ts"

export function HomeEmpty({ acts, setDialog }: { readonly acts: Acts; readonly setDialog: (dialog: HomeDialog) => void }) {
  const picker = useRef<HTMLInputElement>(null)
  return (
    <EmptyState
      icon={<Mark size={44} />}
      title="No notebooks yet"
      actions={
        <>
          <Button kind="primary" icon={<Icon name="plus" />} keys="N" onClick={acts.create}>
            New notebook
          </Button>
          <Button icon={<Icon name="folder" />} keys="O" onClick={() => setDialog({ kind: "open" })}>
            Open from the folder
          </Button>
          <Button icon={<Icon name="upload" />} onClick={() => picker.current?.click()}>
            Choose a file…
          </Button>
          <input
            ref={picker}
            type="file"
            hidden
            multiple
            accept=".ipynb,.py,.md"
            aria-label="Notebook files"
            onChange={(event) => {
              acts.takeIn([...(event.target.files ?? [])])
              event.target.value = ""
            }}
          />
        </>
      }
    >
      Begin one, open a file that is here, or drop an .ipynb, .py or .md file onto this page.
    </EmptyState>
  )
}
