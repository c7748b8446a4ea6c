/** Agents and others who come in with a token: those that there are, and a form that makes another. */

import { useState } from "react"

import type { NewToken } from "../sync/api_types.ts"
import type { Me } from "../sync/frames.ts"
import type { OpenParts } from "../sync/open.ts"
import { Button } from "../ui/Button.tsx"
import { EmptyState } from "../ui/EmptyState.tsx"
import { Icon } from "../ui/Icon.tsx"
import { NewTokenDialog } from "./NewTokenDialog.tsx"
import { SecretDialog } from "./SecretDialog.tsx"
import css from "./Settings.module.css"
import { TokenRow } from "./TokenRow.tsx"
import type { Tokens } from "./use_tokens.ts"

export interface TokensSectionProps {
  readonly parts: OpenParts
  readonly me: Me | null
  readonly tokens: Tokens
}

interface Made {
  readonly token: NewToken
  readonly name: string
  readonly isAgent: boolean
}

export function TokensSection({ parts, me, tokens }: TokensSectionProps) {
  const [isMaking, setMaking] = useState(false)
  const [made, setMade] = useState<Made | null>(null)
  const mayMake = me?.scopes.includes("admin") ?? false
  const others = tokens.list?.filter(({ allows }) => allows.actor !== me?.actor && !allows.actor.startsWith("runtime:")) ?? []
  return (
    <section aria-labelledby="agents">
      <div className={css["head"]}>
        <h2 id="agents">Agents and tokens</h2>
        {mayMake && (
          <Button icon={<Icon name="plus" />} onClick={() => setMaking(true)}>
            New token…
          </Button>
        )}
      </div>
      <p className={css["soft"]}>
        Who holds a token acts under its name, as far as it allows. For an agent on this machine,{" "}
        <code>quire agent install claude-code --ask edit,run</code> is enough: it needs none.
      </p>
      {tokens.fault && <p className={css["soft"]}>{tokens.fault}</p>}
      {me && !mayMake && <p className={css["soft"]}>Only the owner makes tokens.</p>}
      {tokens.list !== null && others.length === 0 && (
        <EmptyState title="No agents and no other people yet">
          {mayMake
            ? "Make a token for an agent: it asks first, and the line to paste for your coding agent is shown with it. To invite a person, open a notebook and press Share."
            : "Nobody else has a token that you may see."}
        </EmptyState>
      )}
      {others.length > 0 && (
        <ul className={css["list"]}>
          {others.map((token) => (
            <TokenRow key={token.token} token={token} pauses={{ api: parts.api, onChanged: tokens.reload }} onRevoke={tokens.revoke} />
          ))}
        </ul>
      )}
      {isMaking && (
        <NewTokenDialog
          parts={parts}
          me={me}
          onClose={() => setMaking(false)}
          onMade={(token, name, isAgent) => {
            setMaking(false)
            setMade({ token, name, isAgent })
            tokens.reload()
          }}
        />
      )}
      {made && <SecretDialog parts={parts} {...made} onClose={() => setMade(null)} />}
    </section>
  )
}
