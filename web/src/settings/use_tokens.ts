/** The tokens of this workspace, as far as this person may see them. */

import { useCallback, useEffect, useState } from "react"

import type { TokenInfo } from "../sync/api_types.ts"
import { Fault } from "../sync/fault.ts"
import type { OpenParts } from "../sync/open.ts"
import { notify } from "../ui/Toasts.tsx"

export interface Tokens {
  /** Those that open something; null as long as they are not read. */
  readonly list: readonly TokenInfo[] | null
  readonly fault: string | null
  readonly reload: () => void
  readonly revoke: (token: TokenInfo, name: string) => void
}

/** The states in which a token opens nothing any more. */
const OVER: ReadonlySet<string> = new Set(["revoked", "expired", "ended", "used"])

export function useTokens({ api }: OpenParts): Tokens {
  const [list, setList] = useState<readonly TokenInfo[] | null>(null)
  const [fault, setFault] = useState<string | null>(null)
  const reload = useCallback((): void => {
    api.tokens().then(
      (tokens) => setList(tokens.filter(({ state }) => !OVER.has(state))),
      (error: unknown) => setFault(error instanceof Fault ? error.message : String(error)),
    )
  }, [api])
  useEffect(reload, [reload])
  const revoke = (token: TokenInfo, name: string): void => {
    api.revokeToken(token.token).then(
      () => {
        notify({ text: `Revoked: ${name} is signed out everywhere it used that token.` })
        reload()
      },
      (error: unknown) => notify({ text: error instanceof Error ? error.message : String(error), kind: "error" }),
    )
  }
  return { list, fault, reload, revoke }
}

const MAY: Readonly<Record<string, string>> = {
  read: "read",
  edit: "edit",
  run: "run cells",
  serve: "run for others",
  bind: "keep files in sync",
  approve: "accept proposals",
  admin: "make tokens and give roles",
}

/** What scopes allow, in words. */
export function scopeWords(scopes: readonly string[]): string {
  const known = Object.keys(MAY).filter((scope) => scopes.includes(scope))
  return known.map((scope) => MAY[scope]).join(", ")
}
