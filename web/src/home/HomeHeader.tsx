/** The header of home: where one is, who one is, schedules, settings. */

import type { Me } from "../sync/frames.ts"
import { IconButton } from "../ui/Button.tsx"
import { Header } from "../ui/Header.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Person } from "../ui/Person.tsx"
import css from "./Home.module.css"

export function HomeHeader({ me, onKeys }: { readonly me: Me | null; readonly onKeys: () => void }) {
  return (
    <Header
      actions={
        <>
          <a className={css["me"]} href="/schedules">
            Schedules
          </a>
          <IconButton label="Keys" icon={<Icon name="keyboard" />} keys="?" onClick={onKeys} />
          <a className={css["me"]} href="/settings" data-tip="Settings" aria-label={me ? undefined : "Settings"}>
            {me ? <Person actor={me.actor} onBehalfOf={me.on_behalf_of} /> : null}
            <Icon name="gear" />
            {me && <span className="visually-hidden">, settings</span>}
          </a>
        </>
      }
    >
      Quire
    </Header>
  )
}
