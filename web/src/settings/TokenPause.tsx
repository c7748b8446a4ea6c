/** The button that pauses a token or lets it go on, and why it is paused. */

import { useState } from "react"

import { pause, resume } from "../sync/api_pauses.ts"
import type { TokenId } from "../core/types.gen.ts"
import type { Api } from "../sync/api.ts"
import type { TokenInfo } from "../sync/api_types.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { CheckField, TextField } from "../ui/Field.tsx"
import { nameOf } from "../ui/Person.tsx"
import { notify } from "../ui/Toasts.tsx"

export interface TokenPauseProps {
  readonly api: Api
  readonly token: TokenInfo
  readonly name: string
  readonly onDone: () => void
}

export function TokenPause({ api, token, name, onDone }: TokenPauseProps) {
  const [isAsking, setAsking] = useState(false)
  const [why, setWhy] = useState("")
  const [interrupt, setInterrupt] = useState(true)
  const close = (): void => setAsking(false)
  const told = (done: Promise<unknown>, text: string): void => {
    done.then(
      () => {
        notify({ text })
        close()
        onDone()
      },
      (error: unknown) => notify({ text: error instanceof Error ? error.message : String(error), kind: "error" }),
    )
  }
  const id = token.token
  if (token.paused) {
    return (
      <Button kind="quiet" onClick={() => told(letGo(api, token, id), `${name} may go on.`)}>
        Resume<span className="visually-hidden"> {name}</span>
      </Button>
    )
  }
  return (
    <>
      <Button kind="quiet" onClick={() => setAsking(true)}>
        Pause…<span className="visually-hidden"> {name}</span>
      </Button>
      <Dialog
        isOpen={isAsking}
        title={`Pause the token of ${name}?`}
        onClose={close}
        onSubmit={() => told(pause(api, { token: id }, { why, interrupt }), `Paused: ${name} is refused everything with that token.`)}
        footer={
          <>
            <Button onClick={close}>Cancel</Button>
            <Button kind="danger" type="submit">
              Pause
            </Button>
          </>
        }
      >
        <p>Until it is resumed, it opens nothing, also where it is in use; nor does what was made with it.</p>
        <TextField label="Why (whoever uses it is told this)" value={why} maxLength={500} onChange={(event) => setWhy(event.target.value)} />
        <CheckField label="Also interrupt what it runs" checked={interrupt} onChange={setInterrupt} />
      </Dialog>
    </>
  )
}

/** The pause may be of the token itself, or of its actor. */
async function letGo(api: Api, token: TokenInfo, id: TokenId): Promise<void> {
  try {
    await resume(api, { token: id })
  } catch {
    await resume(api, { actor: token.allows.actor })
  }
}

/** Since when and why a token is held. */
export function pausedText({ paused }: TokenInfo): string | null {
  if (!paused) return null
  const time = new Date(paused.at).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" })
  return `Paused by ${nameOf(paused.by)} since ${time}${paused.why && `: ${paused.why}`}`
}
