/** A new token's secret, shown once, with what to do with it. */

import type { NewToken } from "../sync/api_types.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Icon } from "../ui/Icon.tsx"
import { notify } from "../ui/Toasts.tsx"
import css from "./Settings.module.css"

export interface SecretDialogProps {
  readonly token: NewToken
  readonly name: string
  readonly onClose: () => void
}

export function SecretDialog({ token, name, onClose }: SecretDialogProps) {
  const copy = (text: string): void => void navigator.clipboard.writeText(text).then(() => notify({ text: "Copied." }))
  const commands = `export QUIRE_URL=${location.origin}\nexport QUIRE_TOKEN=${token.secret}`
  return (
    <Dialog
      isOpen
      title={`The token of ${name}`}
      onClose={onClose}
      footer={
        <Button kind="primary" onClick={onClose}>
          I have kept it
        </Button>
      }
    >
      <p>It is shown this once: only its hash is kept here.</p>
      <div className={css["secret"]}>
        <code data-secret>{token.secret}</code>
        <Button icon={<Icon name="copy" />} onClick={() => copy(token.secret)}>
          Copy
        </Button>
      </div>
      <p className={css["soft"]}>Where it works, set these before it starts:</p>
      <div className={css["secret"]}>
        <pre tabIndex={0}>{commands}</pre>
        <Button icon={<Icon name="copy" />} onClick={() => copy(commands)}>
          Copy
        </Button>
      </div>
    </Dialog>
  )
}
