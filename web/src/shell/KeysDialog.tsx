/** Keys as a list in a dialog: of every page, and of a notebook from the table of actions. */

import { GROUPS } from "../actions/context.ts"
import { ACTIONS } from "../actions/table.ts"
import { Dialog } from "../ui/Dialog.tsx"
import { Kbd } from "../ui/Kbd.tsx"
import type { PageKey } from "./PageKeys.tsx"
import css from "./shell.module.css"

interface KeyRow {
  readonly name: string
  readonly title: string
  readonly keys: readonly string[]
}

const EVERYWHERE: readonly KeyRow[] = [
  { name: "keys", title: "This list", keys: ["?"] },
  { name: "next", title: "Next thing that can be used", keys: ["Tab"] },
  { name: "close", title: "Close what is open", keys: ["Esc"] },
]

export default function KeysDialog({ own, onClose }: { readonly own: readonly PageKey[]; readonly onClose: () => void }) {
  const groups = GROUPS.map((group) => [group, ACTIONS.filter((each) => each.group === group && each.keys.length > 0)] as const)
  return (
    <Dialog title="Keys" size="wide" isOpen onClose={onClose}>
      <div className={css["keys"]} role="group" aria-label="All keys" tabIndex={0} data-autofocus>
        {own.length > 0 && <KeyGroup title="On this page" rows={own.map(({ keys, title }) => ({ name: keys, title, keys: [keys] }))} />}
        <KeyGroup title="On every page" rows={EVERYWHERE} />
        {groups.map(([group, rows]) => rows.length > 0 && <KeyGroup key={group} title={`In a notebook: ${group.toLowerCase()}`} rows={rows} />)}
      </div>
    </Dialog>
  )
}

function KeyGroup({ title, rows }: { readonly title: string; readonly rows: readonly KeyRow[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl>
        {rows.map((row) => (
          <div key={row.name}>
            <dt>{row.title}</dt>
            <dd>
              {row.keys.map((keys) => (
                <Kbd key={keys} keys={keys} />
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
