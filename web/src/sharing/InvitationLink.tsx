/** The link of an invitation, shown once. */

import { invitationLink } from "../sync/api_sharing.ts"
import type { Invitation } from "../sync/api_sharing.ts"
import { Button } from "../ui/Button.tsx"
import { CopyBox } from "../ui/CopyBox.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { nameOf } from "../ui/Person.tsx"
import css from "./Sharing.module.css"
import { dayAndTime } from "./words.ts"

export function InvitationLink({ invitation, onClose }: { readonly invitation: Invitation; readonly onClose: () => void }) {
  const name = nameOf(invitation.actor)
  return (
    <Dialog
      isOpen
      title={`The link for ${name}`}
      onClose={onClose}
      footer={
        <Button kind="primary" onClick={onClose}>
          I have sent or kept it
        </Button>
      }
    >
      <div className={css["body"]}>
        <p>
          {invitation.was_known ? `${name} was known here, and is now ${invitation.role} of this notebook.` : `${name} is ${invitation.role} of this notebook.`} Send
          them this link. It is shown only now.
        </p>
        <CopyBox text={invitationLink(location.origin, invitation)} label={`the link for ${name}`} isSecret />
        <p>
          It signs one browser in as {name}, once, until <b>{dayAndTime(invitation.expires_at)}</b>. The first to open it is {name}: send it to nobody else.
        </p>
        <p className={css["soft"]}>
          {name} stays signed in until {dayAndTime(invitation.signed_in_until)}, or until you sign out of this browser.
        </p>
      </div>
    </Dialog>
  )
}
