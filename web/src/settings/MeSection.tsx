/** Who this browser is signed in as, and where else. */

import type { TokenInfo } from "../sync/api_types.ts"
import type { Me } from "../sync/frames.ts"
import type { OpenParts } from "../sync/open.ts"
import { Button } from "../ui/Button.tsx"
import { Person } from "../ui/Person.tsx"
import { notify } from "../ui/Toasts.tsx"
import css from "./Settings.module.css"
import { TokenRow } from "./TokenRow.tsx"
import { scopeWords } from "./use_tokens.ts"
import type { Tokens } from "./use_tokens.ts"

export interface MeSectionProps {
  readonly parts: OpenParts
  readonly me: Me | null
  readonly tokens: Tokens
  readonly onSignedOut: () => void
}

export function MeSection({ parts, me, tokens, onSignedOut }: MeSectionProps) {
  const others = tokens.list?.filter((token) => token.allows.actor === me?.actor && token.token !== me.token && token.allows.once !== true) ?? []
  const signOut = (): void => {
    parts.api.signOut().then(onSignedOut, (error: unknown) => notify({ text: error instanceof Error ? error.message : String(error), kind: "error" }))
  }
  return (
    <section aria-labelledby="you">
      <h2 id="you">You</h2>
      {me && (
        <div className={css["line"]}>
          <div>
            <p>
              <Person actor={me.actor} onBehalfOf={me.on_behalf_of} /> <span className={css["soft"]}>on this browser</span>
            </p>
            <p className={css["soft"]}>May {scopeWords(me.scopes)}.</p>
          </div>
          <Button onClick={signOut}>Sign out</Button>
        </div>
      )}
      {others.length > 0 && (
        <>
          <h3>Other browsers and tokens of yours</h3>
          <ul className={css["list"]}>
            {others.map((token: TokenInfo) => (
              <TokenRow key={token.token} token={token} onRevoke={tokens.revoke} />
            ))}
          </ul>
        </>
      )}
      <p className={css["soft"]}>
        To sign another browser in, type <code>quire open</code> in a terminal and open the address there.
      </p>
    </section>
  )
}
