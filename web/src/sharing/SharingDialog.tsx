/** Sharing a notebook: who may do what, in one sentence each; roles; inviting a person; letting an agent in. */

import { useCallback, useEffect, useState } from "react"

import { notebookAccess } from "../sync/api_sharing.ts"
import type { Invitation, NotebookAccess } from "../sync/api_sharing.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Icon } from "../ui/Icon.tsx"
import { PanelNote } from "../ui/Panel.tsx"
import { AccessList } from "./AccessList.tsx"
import { dialogOf } from "./dialog_state.ts"
import { InvitationLink } from "./InvitationLink.tsx"
import { InviteForm } from "./InviteForm.tsx"
import css from "./Sharing.module.css"
import { openSentence } from "./words.ts"

export default function SharingDialog({ context }: { readonly context: PageContext }) {
  const { access, fault, reload } = useAccess(context)
  const [isInviting, setInviting] = useState<string | null>(null)
  const [made, setMade] = useState<Invitation | null>(null)
  const name = context.live.store.field("name")
  const close = (): void => dialogOf(context).set(null)
  if (made) return <InvitationLink invitation={made} onClose={() => setMade(null)} />
  if (access && isInviting !== null) {
    return (
      <InviteForm
        context={context}
        access={access}
        name={isInviting}
        onClose={() => setInviting(null)}
        onMade={(invitation) => {
          setInviting(null)
          setMade(invitation)
          reload()
        }}
      />
    )
  }
  return (
    <Dialog isOpen size="wide" title={`Share ${name}`} onClose={close}>
      <div className={css["body"]}>
        {fault && <PanelNote kind="error">{fault}</PanelNote>}
        {access && (
          <>
            <p data-open={access.is_open}>{openSentence(access)}</p>
            {access.manage_refusal !== null && (
              <PanelNote kind="warning">
                You see who may come in, and cannot change it. {access.manage_refusal}
              </PanelNote>
            )}
            <AccessList context={context} access={access} onChanged={reload} onInvite={setInviting} />
            <div className={css["buttons"]}>
              {access.invite_refusal === null && (
                <>
                  <Button kind="primary" icon={<Icon name="plus" />} onClick={() => setInviting("")}>
                    Invite a person…
                  </Button>
                  <Button icon={<Icon name="robot" />} onClick={() => dialogOf(context).set("agent")}>
                    Let an agent in…
                  </Button>
                </>
              )}
              <a href="/settings#agents">All tokens</a>
            </div>
            {access.invite_refusal !== null && access.manage_refusal === null && (
              <PanelNote>You give roles here, and cannot invite anybody new. {access.invite_refusal}</PanelNote>
            )}
          </>
        )}
      </div>
    </Dialog>
  )
}

/** Who may do what, read again after each change. */
function useAccess({ log, parts }: PageContext) {
  const [access, setAccess] = useState<NotebookAccess | null>(null)
  const [fault, setFault] = useState<string | null>(null)
  const reload = useCallback((): void => {
    notebookAccess(parts.api, log).then(
      (read) => {
        setFault(null)
        setAccess(read)
      },
      (error: unknown) => setFault(error instanceof Error ? error.message : String(error)),
    )
  }, [log, parts])
  useEffect(reload, [reload])
  return { access, fault, reload }
}
