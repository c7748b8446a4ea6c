/** The people and agents of a notebook, each with a sentence and, for who may change it, a role. */

import { useState } from "react"

import type { Role } from "../core/types.gen.ts"
import type { AccessLine, NotebookAccess } from "../sync/api_sharing.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Button } from "../ui/Button.tsx"
import { EmptyState } from "../ui/EmptyState.tsx"
import { PanelNote } from "../ui/Panel.tsx"
import { Icon } from "../ui/Icon.tsx"
import { kindOf, nameOf, personText } from "../ui/Person.tsx"
import { needsQuestion } from "./role_change.ts"
import type { RoleChange } from "./role_change.ts"
import css from "./Sharing.module.css"
import { accessSentence, dayAndTime, roleLabel, ROLES } from "./words.ts"

export interface AccessListProps {
  readonly context: PageContext
  readonly access: NotebookAccess
  readonly onChanged: () => void
  /** Make a link for a person who is known. */
  readonly onInvite: (name: string) => void
}

export function AccessList({ context, access, onChanged, onInvite }: AccessListProps) {
  const me = context.open.me.actor
  const [asked, setAsked] = useState<{ readonly change: RoleChange; readonly question: string } | null>(null)
  const [fault, setFault] = useState<string | null>(null)
  const apply = async ({ line, role }: RoleChange): Promise<void> => {
    setAsked(null)
    setFault(null)
    try {
      // Who closes a notebook that somebody else made would shut themselves out of it.
      const mine = access.lines.find(({ actor }) => actor === me)
      if (access.is_open && role !== null && mine?.role !== "owner") await context.parts.api.setRole(me, "owner", context.log)
      await context.parts.api.setRole(line.actor, role, context.log)
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error))
    }
    onChanged()
  }
  const change = (made: RoleChange): void => {
    const question = needsQuestion(made, access, me)
    if (question === null) void apply(made)
    else setAsked({ change: made, question })
  }
  if (access.lines.length === 0) return <EmptyState title="Nobody yet">Invite a person, or let an agent in.</EmptyState>
  return (
    <>
      {fault && <PanelNote kind="error">{fault}</PanelNote>}
      <ul className={css["list"]} aria-label="People and agents">
        {access.lines.map((line) => (
          <li key={`${line.actor} ${line.on_behalf_of ?? ""}`} data-actor={line.actor}>
            <Icon name={kindOf(line.actor) === "agent" ? "robot" : "person"} size={14} />
            <div className={css["sentence"]}>
              <p>{accessSentence(line, me)}</p>
              <Details line={line} />
            </div>
            {access.manage_refusal === null && <RoleSelect line={line} me={me} onChange={(role) => change({ line, role })} />}
            {access.invite_refusal === null && line.state === "out" && kindOf(line.actor) === "human" && (
              <Button onClick={() => onInvite(nameOf(line.actor))}>New link…</Button>
            )}
            {asked?.change.line.actor === line.actor && asked.change.line.on_behalf_of === line.on_behalf_of && (
              <div className={css["question"]} role="alert">
                <p>{asked.question}</p>
                <Button kind="primary" onClick={() => void apply(asked.change)}>
                  {asked.change.role === null ? "Take the role away" : `Make ${nameOf(line.actor)} ${asked.change.role}`}
                </Button>
                <Button onClick={() => setAsked(null)}>Cancel</Button>
              </div>
            )}
          </li>
        ))}
      </ul>
    </>
  )
}

function Details({ line }: { readonly line: AccessLine }) {
  const { is_limited: isLimited, until, state } = line
  const parts = [
    line.role !== null && kindOf(line.actor) === "human" ? roleLabel(line.role) : "",
    line.source === "everywhere" ? "in all notebooks" : "",
    isLimited ? "in chosen notebooks only" : "",
    until !== null && state === "in" ? `until ${dayAndTime(until)}` : "",
  ].filter(Boolean)
  return parts.length > 0 ? <p className={css["soft"]}>{parts.join(" · ")}</p> : null
}

interface RoleSelectProps {
  readonly line: AccessLine
  readonly me: string
  readonly onChange: (role: Role | null) => void
}

function RoleSelect({ line, me, onChange }: RoleSelectProps) {
  const given = line.source === "given" ? line.role : null
  return (
    <select
      className={css["role"]}
      aria-label={`Role of ${personText(line.actor, line.on_behalf_of)}`}
      value={given ?? ""}
      onChange={(event) => onChange(event.target.value === "" ? null : (event.target.value as Role))}
    >
      <option value="">{noRole(line, me)}</option>
      {ROLES.map(({ value, label }) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  )
}

/** What somebody is without a role of their own in this notebook. */
function noRole({ actor, on_behalf_of: behalf, source, role }: AccessLine, me: string): string {
  if (source === "given") return "Take the role away"
  if (source === "made") return "Owner: made it"
  if (source === "everywhere" && role !== null) return `${roleLabel(role)} in all`
  return kindOf(actor) === "agent" && behalf !== null ? `As ${behalf === me ? "you" : nameOf(behalf)}` : "No role"
}
