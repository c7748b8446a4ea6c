/** What a browser sees that is not signed in: what to type, and where. */

import { IconButton } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Mark } from "../ui/Mark.tsx"
import { useTitle } from "../ui/title.ts"
import { notify } from "../ui/Toasts.tsx"
import css from "./shell.module.css"

const COMMAND = "quire open"

/** `refusal` is why an address did not sign this browser in. */
export function SignInPage({ refusal }: { readonly refusal: string | null }) {
  useTitle("Sign in")
  return (
    <main className={css["message"]}>
      <Mark size={40} />
      <h1>{refusal ? "That address did not sign you in" : "Sign this browser in"}</h1>
      {refusal && (
        <p className={css["refusal"]} role="alert">
          {refusal}
        </p>
      )}
      {refusal && <p>A link that somebody sent you works once, and for as long as they said. Ask them for a new one.</p>}
      <p>{refusal ? "Or, on your own machine, in a terminal," : "In a terminal,"} in the folder that this server serves, type:</p>
      <div className={css["command"]}>
        <code>{COMMAND}</code>
        <IconButton
          label="Copy"
          icon={<Icon name="copy" />}
          onClick={() => void navigator.clipboard.writeText(COMMAND).then(() => notify({ text: "Copied." }))}
        />
      </div>
      <p>It opens an address that signs one browser in, once, within 5 minutes. On another machine, open the address that it prints.</p>
    </main>
  )
}
