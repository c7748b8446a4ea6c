/** The browsers that are signed in as this person: this one, and the others with a button that signs them out. */

import { useCallback, useEffect, useState } from "react"

import { browserSessions, signOutBrowser } from "../sync/api_sharing.ts"
import type { BrowserSession } from "../sync/api_sharing.ts"
import type { OpenParts } from "../sync/open.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Time } from "../ui/Time.tsx"
import { notify } from "../ui/Toasts.tsx"
import css from "./Settings.module.css"

export interface BrowsersSectionProps {
  readonly parts: OpenParts
  readonly onSignedOut: () => void
}

/** What is to be signed out: one browser, or all but this one. */
type Asked = { readonly sessions: readonly BrowserSession[]; readonly title: string }

export function BrowsersSection({ parts: { api }, onSignedOut }: BrowsersSectionProps) {
  const [sessions, setSessions] = useState<readonly BrowserSession[] | null>(null)
  const [asked, setAsked] = useState<Asked | null>(null)
  const reload = useCallback((): void => {
    browserSessions(api).then(setSessions, tell)
  }, [api])
  useEffect(reload, [reload])
  const signOut = async (chosen: readonly BrowserSession[]): Promise<void> => {
    setAsked(null)
    try {
      for (const { token, is_this: isThis } of chosen) await (isThis ? api.signOut().then(onSignedOut) : signOutBrowser(api, token))
      if (!chosen.some(({ is_this: isThis }) => isThis)) notify({ text: chosen.length === 1 ? "That browser is signed out." : `${chosen.length} browsers are signed out.` })
    } catch (error) {
      tell(error)
    }
    reload()
  }
  const others = sessions?.filter(({ is_this: isThis }) => !isThis) ?? []
  return (
    <section aria-labelledby="browsers">
      <div className={css["head"]}>
        <h2 id="browsers">My browsers</h2>
        {others.length > 1 && <Button onClick={() => setAsked({ sessions: others, title: "Sign out all other browsers?" })}>Sign out all others…</Button>}
      </div>
      <ul className={css["list"]}>
        {sessions?.map((session) => (
          <li key={session.token} className={css["line"]} data-browser={session.is_this ? "this" : "other"}>
            <div>
              <p>
                {session.is_this ? <b>This browser</b> : "Another browser"} <code className={css["soft"]}>{session.token.slice(0, 10)}</code>
              </p>
              <p className={css["soft"]}>
                Signed in <Time at={session.signed_in_at} />
                {session.expires_at && ` · until ${new Date(session.expires_at).toLocaleDateString("en-GB", { dateStyle: "medium" })}`}
                {session.ends_with_it > 0 && ` · ${counted(session.ends_with_it)} made in it`}
              </p>
            </div>
            <Button
              kind={session.is_this ? "plain" : "quiet"}
              onClick={() => setAsked({ sessions: [session], title: session.is_this ? "Sign out of this browser?" : "Sign that browser out?" })}
            >
              Sign out…
            </Button>
          </li>
        ))}
      </ul>
      {sessions !== null && others.length === 0 && (
        <p className={css["soft"]}>
          You are signed in nowhere else. To sign another browser in, type <code>quire open</code> in a terminal and open the address there.
        </p>
      )}
      {asked && (
        <Dialog
          isOpen
          title={asked.title}
          onClose={() => setAsked(null)}
          footer={
            <>
              <Button onClick={() => setAsked(null)}>Stay signed in</Button>
              <Button kind="danger" onClick={() => void signOut(asked.sessions)}>
                Sign out
              </Button>
            </>
          }
        >
          {endsWith(asked.sessions)}
        </Dialog>
      )}
    </section>
  )
}

function tell(error: unknown): void {
  notify({ text: error instanceof Error ? error.message : String(error), kind: "error" })
}

/** What ends with these browsers. */
function endsWith(sessions: readonly BrowserSession[]): string {
  const count = sessions.reduce((sum, each) => sum + each.ends_with_it, 0)
  const which = sessions.length === 1 ? "it" : "them"
  if (count === 0) return `Nothing else ends with ${which}.`
  return `${counted(count)} made in ${which} ${count === 1 ? "ends" : "end"} with ${which}: agents and people who came in that way are signed out, too.`
}

function counted(count: number): string {
  return count === 1 ? "1 token" : `${count} tokens`
}
