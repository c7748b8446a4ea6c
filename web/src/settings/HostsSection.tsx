/** The hosts that outputs may load from, by notebook, each with the button that withdraws it. */

import { useEffect, useState } from "react"

import type { LogId } from "../core/types.gen.ts"
import { useValue } from "../hooks/values.ts"
import { hostPermissions } from "../sync/allowed_hosts.ts"
import type { OpenParts } from "../sync/open.ts"
import { Button } from "../ui/Button.tsx"
import css from "./Settings.module.css"

export function HostsSection({ parts }: { readonly parts: OpenParts }) {
  const permissions = hostPermissions(parts.storage)
  const allowed = [...useValue(permissions.all)]
  const names = useNames(parts, allowed.length > 0)
  return (
    <section aria-labelledby="hosts">
      <h2 id="hosts">Hosts of outputs</h2>
      <p className={css["soft"]}>
        {allowed.length
          ? "Outputs of these notebooks may load from these hosts when you look at them, in this browser."
          : "Outputs load nothing from the network. Where one wants to, the line below it says from which host, and lets you allow it for that notebook."}
      </p>
      {allowed.map(([log, hosts]) => (
        <div key={log}>
          <h3>
            <a href={`/notebooks/${encodeURIComponent(log)}`}>{names.get(log) ?? log}</a>
          </h3>
          <ul className={css["list"]}>
            {hosts.map((host) => (
              <li key={host} className={css["line"]}>
                <code>{host}</code>
                <Button kind="quiet" onClick={() => permissions.of(log).withdraw(host)}>
                  Withdraw
                </Button>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </section>
  )
}

const NO_NAMES: ReadonlyMap<LogId, string> = new Map()

/** The names of notebooks; of those that cannot be read, there is only the id. */
function useNames({ api }: OpenParts, isNeeded: boolean): ReadonlyMap<LogId, string> {
  const [names, setNames] = useState(NO_NAMES)
  useEffect(() => {
    if (!isNeeded) return
    let isShown = true
    api.notebooks().then(
      (found) => isShown && setNames(new Map(found.map(({ log, name }) => [log, name]))),
      () => undefined,
    )
    return () => void (isShown = false)
  }, [api, isNeeded])
  return names
}
