/** The `?` sheet: every action that has keys, by group and mode. */

import { GROUPS } from "../actions/context.ts"
import type { Action } from "../actions/context.ts"
import { EDITOR_KEYS } from "../actions/editor_keys.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Kbd } from "../ui/Kbd.tsx"
import type { Page } from "./page.ts"
import styles from "./Palette.module.css"

export default function KeysSheet({ page, onClose }: { readonly page: Page; readonly onClose: () => void }) {
  const tour = page.all.find((each) => each.name === "tour.start" && each.when(page.actions))
  const groups = GROUPS.map((group) => [group, page.all.filter((each) => each.group === group && each.keys.length)] as const)
  return (
    <Dialog
      title="Keys"
      size="wide"
      isOpen
      onClose={onClose}
      footer={
        tour && (
          <Button
            onClick={() => {
              onClose()
              // Once the dialog has given the focus back.
              setTimeout(() => tour.do(page.actions))
            }}
          >
            {tour.title}
          </Button>
        )
      }
    >
      <div className={styles["sheet"]} role="group" aria-label="All keys" tabIndex={0} data-autofocus>
        <p className={styles["note"]}>
          <Kbd keys="Esc" /> leaves the editor: letters are commands then. <Kbd keys="Enter" /> edits the cell.
        </p>
        {groups.map(([group, actions]) => actions.length > 0 && <Group key={group} title={group} actions={actions} />)}
        <Group title="In the editor" actions={EDITOR_KEYS} />
      </div>
    </Dialog>
  )
}

type Row = Pick<Action, "name" | "title" | "keys">

function Group({ title, actions }: { readonly title: string; readonly actions: readonly Row[] }) {
  return (
    <section className={styles["keys"]}>
      <h3>{title}</h3>
      <dl>
        {actions.map((each) => (
          <div key={each.name} data-action={each.name}>
            <dt>{each.title}</dt>
            <dd>
              {each.keys.map((keys) => (
                <Kbd key={keys} keys={keys} />
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
