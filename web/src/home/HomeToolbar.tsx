/** Above the notebooks: their heading, the filter, and what makes another. */

import type { RefObject } from "react"

import { Button } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Kbd } from "../ui/Kbd.tsx"
import css from "./Home.module.css"
import type { HomeDialog } from "./HomeDialogs.tsx"
import type { Acts } from "./use_acts.ts"

export interface HomeToolbarProps {
  readonly filter: string
  readonly onFilter: (text: string) => void
  readonly filterField: RefObject<HTMLInputElement | null>
  readonly acts: Acts
  readonly setDialog: (dialog: HomeDialog) => void
}

export function HomeToolbar({ filter, onFilter, filterField, acts, setDialog }: HomeToolbarProps) {
  return (
    <div className={css["toolbar"]}>
      <h2 id="notebooks">Notebooks</h2>
      <div className={css["filter"]} role="search">
        <Icon name="search" />
        <input
          ref={filterField}
          type="search"
          value={filter}
          placeholder="Search names, code and outputs"
          aria-label="Search names, code and outputs"
          aria-keyshortcuts="/"
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => onFilter(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Escape") return
            onFilter("")
            event.currentTarget.blur()
          }}
        />
        {filter === "" && <Kbd keys="/" />}
      </div>
      <div className={css["toolbuttons"]}>
        <Button icon={<Icon name="folder" />} keys="O" title="Open a file from the folder" onClick={() => setDialog({ kind: "open" })}>
          Open…
        </Button>
        <Button kind="primary" icon={<Icon name="plus" />} keys="N" title="New notebook" onClick={acts.create}>
          New
        </Button>
      </div>
    </div>
  )
}
