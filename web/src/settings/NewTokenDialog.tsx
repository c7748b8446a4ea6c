/** The form that makes a token: for whom, what it may, whether it asks first, for how long. */

import { useState } from "react"

import type { NewToken, TokenWanted } from "../sync/api_types.ts"
import type { Me } from "../sync/frames.ts"
import type { OpenParts } from "../sync/open.ts"
import type { Scope } from "../core/types.gen.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { CheckField, SelectField, TextField } from "../ui/Field.tsx"
import css from "./Settings.module.css"

export interface NewTokenDialogProps {
  readonly parts: OpenParts
  readonly me: Me | null
  readonly onClose: () => void
  readonly onMade: (token: NewToken, name: string, isAgent: boolean) => void
}

const KINDS = [
  { value: "agent", label: "An agent" },
  { value: "human", label: "A person" },
]
/** Nothing that is made here outlasts this browser's own token. */
const TIMES = [
  { value: "8h", label: "8 hours" },
  { value: "7d", label: "7 days" },
  { value: "", label: "As long as this browser is signed in" },
]

/** What the form holds. */
export interface TokenForm {
  readonly kind: string
  readonly name: string
  readonly mayEdit: boolean
  readonly mayRun: boolean
  readonly asks: boolean
  readonly time: string
}

const FIRST: TokenForm = { kind: "agent", name: "", mayEdit: true, mayRun: true, asks: true, time: "" }

/** What is asked of the server. An agent acts for the person who makes its token. */
export function tokenWanted({ kind, name, mayEdit, mayRun, asks, time }: TokenForm, me: Pick<Me, "actor" | "expires_at"> | null): TokenWanted {
  const acts: Scope[] = [...(mayEdit ? ["edit" as const] : []), ...(mayRun ? ["run" as const] : [])]
  const isAgent = kind === "agent"
  const until = time || me?.expires_at
  return {
    actor: `${kind}:${name.trim()}`,
    scopes: ["read", ...acts],
    ...(isAgent && me ? { on_behalf_of: me.actor } : {}),
    ...(isAgent && asks ? { asks: acts } : {}),
    ...(until ? { expires_at: until } : {}),
  }
}

export function NewTokenDialog({ parts, me, onClose, onMade }: NewTokenDialogProps) {
  const [form, setForm] = useState(FIRST)
  const [fault, setFault] = useState<string | null>(null)
  const change = (part: Partial<TokenForm>): void => setForm({ ...form, ...part })
  const isAgent = form.kind === "agent"
  const submit = (): void => {
    if (!form.name.trim()) return
    parts.api.createToken(tokenWanted(form, me)).then(
      (token) => onMade(token, form.name.trim(), isAgent),
      (error: unknown) => setFault(error instanceof Error ? error.message : String(error)),
    )
  }
  return (
    <Dialog
      isOpen
      title="New token"
      onClose={onClose}
      onSubmit={submit}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={!form.name.trim()}>
            Make token
          </Button>
        </>
      }
    >
      <div className={css["pair"]}>
        <SelectField label="For" choices={KINDS} value={form.kind} onChange={(event) => change({ kind: event.target.value })} />
        <TextField
          label="Name"
          placeholder={isAgent ? "codex" : "grace"}
          value={form.name}
          error={fault}
          data-autofocus
          onChange={(event) => {
            setFault(null)
            change({ name: event.target.value })
          }}
        />
      </div>
      <fieldset className={css["fieldset"]}>
        <legend>It may</legend>
        <CheckField label="Read notebooks and runs" checked disabled onChange={() => undefined} />
        <CheckField label="Edit notebooks" checked={form.mayEdit} onChange={(mayEdit) => change({ mayEdit })} />
        <CheckField label="Run cells and notebooks" checked={form.mayRun} onChange={(mayRun) => change({ mayRun })} />
        {isAgent && (
          <CheckField
            label="Asks first"
            help="What it wants to change or run becomes a proposal, which a person accepts or declines."
            checked={form.asks}
            onChange={(asks) => change({ asks })}
          />
        )}
      </fieldset>
      <SelectField
        label="For how long"
        help="It ends when this browser signs out, at the latest. One that lasts is made in a terminal: quire token new --help"
        choices={TIMES} 
        value={form.time}
        onChange={(event) => change({ time: event.target.value })}
      />
    </Dialog>
  )
}
