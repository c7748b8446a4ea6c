/** What a change of a role does beside changing it: where a person has to know that first. */

import type { Role } from "../core/types.gen.ts"
import type { AccessLine, NotebookAccess } from "../sync/api_sharing.ts"
import { nameOf } from "../ui/Person.tsx"

export interface RoleChange {
  readonly line: AccessLine
  /** Null takes it away. */
  readonly role: Role | null
}

/** What to ask before a change; null where it does nothing but what it says. */
export function needsQuestion({ line, role }: RoleChange, access: NotebookAccess, me: string): string | null {
  const given = access.lines.filter(({ source }) => source === "given")
  if (access.is_open && role !== null) {
    return "This closes the notebook: from then on only those with a role may come in, and who made it. Everybody else stays outside."
  }
  if (!access.is_open && role === null && given.length === 1 && given[0] === line) {
    return "Nobody has a role then: the notebook is open again, to everybody who can sign in."
  }
  if (line.actor === me && line.role === "owner" && role !== "owner") return "You may not share this notebook any more then. Another owner can change it back."
  if (role === "owner") return `${nameOf(line.actor)} may then share the notebook, and take your role away.`
  return null
}
