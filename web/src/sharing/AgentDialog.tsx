/** Letting an agent in: a token that asks first, and the line to paste for the coding agent that is chosen. */

import { useEffect, useState } from "react"

import { agentSettings, letAgentIn } from "../sync/api_sharing.ts"
import type { AgentSettings } from "../sync/api_sharing.ts"
import type { NewToken } from "../sync/api_types.ts"
import { firstQuestion } from "../sync/first_question.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { AgentLines, guessAgent } from "../ui/AgentLines.tsx"
import { Button } from "../ui/Button.tsx"
import { CopyBox } from "../ui/CopyBox.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { CheckField, TextField } from "../ui/Field.tsx"
import { PanelNote } from "../ui/Panel.tsx"
import { dialogOf } from "./dialog_state.ts"
import css from "./Sharing.module.css"

export default function AgentDialog({ context }: { readonly context: PageContext }) {
  const [token, setToken] = useState<NewToken | null>(null)
  const [name, setName] = useState("codex")
  const close = (): void => dialogOf(context).set(null)
  return token ? (
    <AgentToken context={context} token={token} name={name} onClose={close} />
  ) : (
    <AgentForm context={context} name={name} onName={setName} onClose={close} onMade={setToken} />
  )
}

interface AgentFormProps {
  readonly context: PageContext
  readonly name: string
  readonly onName: (name: string) => void
  readonly onClose: () => void
  readonly onMade: (token: NewToken) => void
}

function AgentForm({ context, name, onName, onClose, onMade }: AgentFormProps) {
  const [asks, setAsks] = useState(true)
  const [isLimited, setLimited] = useState(true)
  const [fault, setFault] = useState<string | null>(null)
  const { me } = context.open
  const mayMake = me.scopes.includes("admin") && !me.notebooks
  const make = (): void => {
    if (!name.trim()) return
    letAgentIn(context.parts.api, { name, asks, notebook: isLimited ? context.log : null }, me).then(onMade, (error: unknown) =>
      setFault(error instanceof Error ? error.message : String(error)),
    )
  }
  return (
    <Dialog
      isOpen
      title="Let an agent in"
      onClose={onClose}
      onSubmit={make}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={!name.trim() || !mayMake}>
            Make its token
          </Button>
        </>
      }
    >
      <div className={css["body"]}>
        <p>A coding agent comes in with a token. All that it does is recorded under its name, for you.</p>
        {!mayMake && (
          <PanelNote kind="warning">
            Only an owner of this workspace makes tokens. On your own machine, type <code>quire agent install claude-code --ask edit,run</code> in the folder.
          </PanelNote>
        )}
        <TextField
          label="Name"
          help="As you will see it here: codex, claude, cursor…"
          value={name}
          error={fault}
          data-autofocus
          spellCheck={false}
          onFocus={(event) => event.target.select()}
          onChange={(event) => {
            setFault(null)
            onName(event.target.value)
          }}
        />
        <CheckField
          label="Asks first"
          help="What it wants to change or run becomes a proposal, which you accept or decline."
          checked={asks}
          onChange={setAsks}
        />
        <CheckField label="Only this notebook" checked={isLimited} onChange={setLimited} />
        <p className={css["soft"]}>The token ends when you sign out of this browser. Settings has more choices.</p>
      </div>
    </Dialog>
  )
}

interface AgentTokenProps {
  readonly context: PageContext
  readonly token: NewToken
  readonly name: string
  readonly onClose: () => void
}

function AgentToken({ context, token, name, onClose }: AgentTokenProps) {
  const [agents, setAgents] = useState<readonly AgentSettings[]>([])
  const [chosen, setChosen] = useState<string | null>(null)
  const { api } = context.parts
  useEffect(() => {
    // Without the list, the address and the header are shown.
    agentSettings(api, location.origin, token.secret).then(setAgents, () => undefined)
  }, [api, token])
  return (
    <Dialog
      isOpen
      size="wide"
      title={`${name.trim()} may come in`}
      onClose={onClose}
      footer={
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <div className={css["body"]}>
        <p>The token is shown only now: just its hash is kept.</p>
        <AgentLines
          agents={agents}
          chosen={chosen ?? guessAgent(agents, name)}
          onChoose={setChosen}
          address={`${location.origin}/mcp`}
          secret={token.secret}
        />
        <p>Then ask it, for example:</p>
        <CopyBox text={firstQuestion(context.live.store.get())} label="a first question" />
        <details>
          <summary>The token itself</summary>
          <CopyBox text={token.secret} label="the token" isSecret />
        </details>
      </div>
    </Dialog>
  )
}
