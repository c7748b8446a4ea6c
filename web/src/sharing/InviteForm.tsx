/** The form that invites a person: name, role, how much they see, how long the link is good. */

import { useState } from "react"

import type { Role } from "../core/types.gen.ts"
import { invite } from "../sync/api_sharing.ts"
import type { Invitation, NotebookAccess } from "../sync/api_sharing.ts"
import { Fault } from "../sync/fault.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { CheckField, SelectField, TextField } from "../ui/Field.tsx"
import { PanelNote } from "../ui/Panel.tsx"
import css from "./Sharing.module.css"
import { ROLES } from "./words.ts"

export interface InviteFormProps {
  readonly context: PageContext
  readonly access: NotebookAccess
  /** A person who is known and gets a new link; empty for somebody new. */
  readonly name: string
  readonly onClose: () => void
  readonly onMade: (invitation: Invitation) => void
}

const TIMES = [
  { value: "1h", label: "1 hour" },
  { value: "1d", label: "1 day" },
  { value: "7d", label: "7 days" },
]

export function InviteForm({ context, access, name: known, onClose, onMade }: InviteFormProps) {
  const line = access.lines.find(({ actor }) => actor === `human:${known}`)
  const [name, setName] = useState(known)
  const [role, setRole] = useState<Role>(line?.role ?? "editor")
  const [isLimited, setLimited] = useState(true)
  const [time, setTime] = useState("1d")
  const [fault, setFault] = useState<Fault | null>(null)
  const isTaken = fault?.kind === "Conflict"
  const send = (existing: boolean): void => {
    const wanted = { name: name.trim(), notebook: context.log, role, everywhere: !isLimited, expires_at: time, existing }
    invite(context.parts.api, wanted).then(onMade, (error: unknown) =>
      setFault(error instanceof Fault ? error : new Fault({ kind: "Unavailable", message: String(error) })),
    )
  }
  const shown = name.trim() || "They"
  return (
    <Dialog
      isOpen
      title={known ? `A new link for ${known}` : "Invite a person"}
      onClose={onClose}
      onSubmit={() => name.trim() && send(known !== "")}
      footer={
        <>
          <Button onClick={onClose}>Back</Button>
          {isTaken ? (
            <Button kind="primary" onClick={() => send(true)}>
              It is the same {name.trim()}: make a link
            </Button>
          ) : (
            <Button kind="primary" type="submit" disabled={!name.trim()}>
              Make a link
            </Button>
          )}
        </>
      }
    >
      <div className={css["body"]}>
        <TextField
          label="Name"
          help="One word, under which all that they do is recorded."
          placeholder="grace"
          value={name}
          disabled={known !== ""}
          error={fault?.message}
          data-autofocus
          spellCheck={false}
          onChange={(event) => {
            setFault(null)
            setName(event.target.value)
          }}
        />
        {isTaken && (
          <PanelNote kind="warning">
            If it is the same person, {name.trim()} gets this role and a new link, and stays signed in where they are. If not, choose another name: with the
            link, one acts as {name.trim()}.
          </PanelNote>
        )}
        <fieldset className={css["roles"]}>
          <legend>Role</legend>
          {ROLES.map(({ value, label, help }) => (
            <label key={value}>
              <input type="radio" name="role" value={value} checked={role === value} onChange={() => setRole(value)} />
              <span>
                {label} <span className={css["soft"]}>{help}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <CheckField
          label="Only this notebook and its runs"
          help={`Without this, ${shown === "They" ? "they" : shown} may do the same in every notebook that is open to everybody.`}
          checked={isLimited}
          onChange={setLimited}
        />
        <SelectField label="The link is good for" choices={TIMES} value={time} onChange={(event) => setTime(event.target.value)} />
        {access.is_open && (
          <PanelNote kind="warning">
            The notebook is open to everybody who can sign in. With its first role it is closed: those without one stay outside. You stay its owner.
          </PanelNote>
        )}
      </div>
    </Dialog>
  )
}
