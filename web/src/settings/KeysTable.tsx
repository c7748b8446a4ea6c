/** All keys of a notebook, from the table of actions. */

import { GROUPS } from "../actions/context.ts"
import { ACTIONS } from "../actions/table.ts"
import { Kbd } from "../ui/Kbd.tsx"
import css from "./Settings.module.css"

const MODES = { command: "outside a cell's text", edit: "in a cell's text" } as const

export function KeysTable() {
  const actions = ACTIONS.filter(({ keys }) => keys.length > 0)
  return (
    <section aria-labelledby="keys">
      <h2 id="keys">Keys</h2>
      <p className={css["soft"]}>In a notebook; Esc leaves a cell&apos;s text, Enter goes into it.</p>
      <div className={css["keygroups"]}>
        {GROUPS.map((group) => {
          const inGroup = actions.filter((action) => action.group === group)
          if (inGroup.length === 0) return null
          return (
            <table key={group}>
              <caption>{group}</caption>
              <tbody>
                {inGroup.map(({ name, title, keys, mode }) => (
                  <tr key={name}>
                    <th scope="row">
                      {title}
                      {mode && <span className="visually-hidden">, {MODES[mode]}</span>}
                    </th>
                    <td>
                      {keys.map((each, index) => (
                        <span key={each}>
                          {index > 0 && <span className={css["soft"]}> or </span>}
                          <Kbd keys={each} />
                        </span>
                      ))}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )
        })}
      </div>
    </section>
  )
}
