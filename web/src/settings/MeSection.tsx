/** Who this browser is signed in as, and the other tokens of that person. */

import type { TokenInfo } from "../sync/api_types.ts"
import type { Me } from "../sync/frames.ts"
import { Person } from "../ui/Person.tsx"
import css from "./Settings.module.css"
import { TokenRow } from "./TokenRow.tsx"
import { scopeWords } from "./use_tokens.ts"
import type { Tokens } from "./use_tokens.ts"

export interface MeSectionProps {
  readonly me: Me | null
  readonly tokens: Tokens
}

/** Who makes the tokens of browsers: those are listed by themselves. */
const SYSTEM = "system:quire"

export function MeSection({ me, tokens }: MeSectionProps) {
  const others = tokens.list?.filter(({ allows }) => allows.actor === me?.actor && allows.created_by !== SYSTEM && allows.once !== true) ?? []
  return (
    <section aria-labelledby="you">
      <h2 id="you">You</h2>
      {me && (
        <div>
          <p>
            <Person actor={me.actor} onBehalfOf={me.on_behalf_of} /> <span className={css["soft"]}>on this browser</span>
          </p>
          <p className={css["soft"]}>
            May {scopeWords(me.scopes)}
            {me.notebooks && `, in ${me.notebooks.length === 1 ? "one notebook" : `${me.notebooks.length} notebooks`} only`}.
          </p>
        </div>
      )}
      {others.length > 0 && (
        <>
          <h3>Tokens of yours</h3>
          <ul className={css["list"]}>
            {others.map((token: TokenInfo) => (
              <TokenRow key={token.token} token={token} onRevoke={tokens.revoke} />
            ))}
          </ul>
        </>
      )}
    </section>
  )
}
