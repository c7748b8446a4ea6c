/** Everybody who worked in the notebook: undo all of theirs, and pause an agent or let it go on. */

import { useEffect, useState } from "react"

import { useField, useValue } from "../hooks/values.ts"
import type { Paused } from "../sync/api_pauses.ts"
import { findEditors } from "../sync/api_undo.ts"
import type { Editor } from "../sync/api_undo.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { pausesOf } from "../sync/pauses.ts"
import { Button } from "../ui/Button.tsx"
import { PanelNote, PanelSection } from "../ui/Panel.tsx"
import { nameOf, Person } from "../ui/Person.tsx"
import css from "./Agents.module.css"
import { dialogsOf } from "./dialogs.ts"
import { letGo } from "./let_go.ts"
import { isAgent, workersOf } from "./workers.ts"

export function AgentControls({ context }: { readonly context: PageContext }) {
  const { live, open, parts, mayEdit } = context
  useField(live, "cells")
  useField(live, "proposals")
  const paused = useValue(pausesOf(parts).paused)
  const workers = workersOf(live.store.get(), useEditors(context))
  const { dialog } = dialogsOf(live)
  return (
    <PanelSection title="Who worked here">
      {workers.length === 0 && <PanelNote>Nobody has changed a cell yet. Who does is listed here, and can be undone as a whole.</PanelNote>}
      <ul className={css["workers"]}>
        {workers.map(({ actor, onBehalfOf, hasEdited }) => {
          const pauseOfActor = paused.find((each) => each.actor === actor && each.token === null)
          return (
            <li key={actor} data-actor={actor}>
              <Person actor={actor} onBehalfOf={onBehalfOf} me={open.me.actor} />
              <span className={css["buttons"]}>
                {hasEdited && mayEdit && (
                  <Button kind="quiet" onClick={() => dialog.set({ kind: "undo", actor })}>
                    Undo…<span className="visually-hidden"> all of {nameOf(actor)}</span>
                  </Button>
                )}
                {isAgent(actor) &&
                  (pauseOfActor ? (
                    <Button kind="quiet" onClick={() => void letGo(context, pauseOfActor)}>
                      Resume<span className="visually-hidden"> {nameOf(actor)}</span>
                    </Button>
                  ) : (
                    <Button kind="quiet" onClick={() => dialog.set({ kind: "pause", actor })}>
                      Pause…<span className="visually-hidden"> {nameOf(actor)}</span>
                    </Button>
                  ))}
              </span>
              {pauseOfActor && <PausedLine paused={pauseOfActor} me={open.me.actor} />}
            </li>
          )
        })}
      </ul>
    </PanelSection>
  )
}

/** Everyone who ever changed a cell: read from the log whenever the panel opens. */
function useEditors({ parts, log }: PageContext): readonly Editor[] {
  const [editors, setEditors] = useState<readonly Editor[]>([])
  useEffect(() => {
    let isShown = true
    findEditors(parts.api, log).then(
      (found) => isShown && setEditors(found),
      () => undefined, // without the server, those whom the notebook tells of have to do
    )
    return () => void (isShown = false)
  }, [parts, log])
  return editors
}

function PausedLine({ paused: { by, at, why }, me }: { readonly paused: Paused; readonly me: string }) {
  const time = new Date(at).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })
  return (
    <span className={css["why"]}>
      Paused by {by === me ? "you" : nameOf(by)} since {time}
      {why && `: ${why}`}
    </span>
  )
}
