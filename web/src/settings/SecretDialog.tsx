/** A new token's secret, shown once, with what to do with it. */

import { useEffect, useState } from "react"

import { agentSettings } from "../sync/api_sharing.ts"
import type { AgentSettings } from "../sync/api_sharing.ts"
import type { NewToken } from "../sync/api_types.ts"
import type { OpenParts } from "../sync/open.ts"
import { AgentLines, guessAgent } from "../ui/AgentLines.tsx"
import { Button } from "../ui/Button.tsx"
import { CopyBox } from "../ui/CopyBox.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import css from "./Settings.module.css"

export interface SecretDialogProps {
  readonly parts: OpenParts
  readonly token: NewToken
  readonly name: string
  readonly isAgent: boolean
  readonly onClose: () => void
}

export function SecretDialog({ parts, token, name, isAgent, onClose }: SecretDialogProps) {
  const commands = `export QUIRE_URL=${location.origin}\nexport QUIRE_TOKEN=${token.secret}`
  return (
    <Dialog
      isOpen
      size={isAgent ? "wide" : "small"}
      title={`The token of ${name}`}
      onClose={onClose}
      footer={
        <Button kind="primary" onClick={onClose}>
          I have kept it
        </Button>
      }
    >
      <div className={css["stack"]}>
        <p>It is shown only now: just its hash is kept here.</p>
        <CopyBox text={token.secret} label="the token" isSecret />
        {isAgent && <Lines parts={parts} token={token} name={name} />}
        <details open={!isAgent}>
          <summary>For a shell, or a program of your own</summary>
          <CopyBox text={commands} label="the variables" />
        </details>
      </div>
    </Dialog>
  )
}

function Lines({ parts: { api }, token, name }: Pick<SecretDialogProps, "parts" | "token" | "name">) {
  const [agents, setAgents] = useState<readonly AgentSettings[]>([])
  const [chosen, setChosen] = useState<string | null>(null)
  useEffect(() => {
    // Without the list, the address and the header are shown.
    agentSettings(api, location.origin, token.secret).then(setAgents, () => undefined)
  }, [api, token])
  return (
    <AgentLines
      agents={agents}
      chosen={chosen ?? guessAgent(agents, name)}
      onChoose={setChosen}
      address={`${location.origin}/mcp`}
      secret={token.secret}
    />
  )
}
