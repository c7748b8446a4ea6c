/** A token: for whom, what it may, since when and until when; and the button that ends it. */

import { useState } from "react"

import type { Api } from "../sync/api.ts"
import type { TokenInfo } from "../sync/api_types.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Person, personText } from "../ui/Person.tsx"
import { Time } from "../ui/Time.tsx"
import css from "./Settings.module.css"
import { pausedText, TokenPause } from "./TokenPause.tsx"
import { scopeWords } from "./use_tokens.ts"

export interface TokenRowProps {
  readonly token: TokenInfo
  /** Brings the button that pauses it; one's own browsers have none. */
  readonly pauses?: { readonly api: Api; onChanged(): void } | undefined
  readonly onRevoke: (token: TokenInfo, name: string) => void
}

export function TokenRow({ token, pauses, onRevoke }: TokenRowProps) {
  const [isAsking, setAsking] = useState(false)
  const { actor, on_behalf_of: onBehalfOf, scopes, asks = [], expires_at: until, created_at: since, notebooks, once } = token.allows
  const name = personText(actor, onBehalfOf)
  const close = (): void => setAsking(false)
  return (
    <li className={css["line"]}>
      <div>
        <p>
          <Person actor={actor} onBehalfOf={onBehalfOf} /> <code className={css["soft"]}>{token.token.slice(0, 10)}</code>
        </p>
        {token.paused && <p>{pausedText(token)}</p>}
        <p className={css["soft"]}>
          {once === true && "A link that was not used yet. "}
          May {scopeWords(scopes)}
          {asks.length > 0 && `; asks before it may ${scopeWords(asks)}`}
          {notebooks && `; in ${notebooks.length === 1 ? "one notebook" : `${notebooks.length} notebooks`} only`}
          {since && (
            <>
              {" · made "}
              <Time at={since} />
            </>
          )}
          {until && ` · until ${new Date(until).toLocaleDateString("en-GB", { dateStyle: "medium" })}`}
        </p>
      </div>
      <div className={css["buttons"]}>
        {pauses && <TokenPause api={pauses.api} token={token} name={name} onDone={() => pauses.onChanged()} />}
        <Button kind="quiet" onClick={() => setAsking(true)}>
          Revoke…
        </Button>
      </div>
      <Dialog
        isOpen={isAsking}
        title={`Revoke the token of ${name}?`}
        onClose={close}
        footer={
          <>
            <Button onClick={close}>Keep it</Button>
            <Button
              kind="danger"
              onClick={() => {
                close()
                onRevoke(token, name)
              }}
            >
              Revoke
            </Button>
          </>
        }
      >
        From this moment on it opens nothing, also where it is in use. This cannot be undone.
      </Dialog>
    </li>
  )
}
