/** Signing this browser in by the address that `quire serve` and `quire open` print: `#sign-in=TOKEN&notebook=LOG`. */

import type { Fetch } from "./api.ts"
import type { FaultBody } from "./fault.ts"
import type { LogId } from "../core/types.gen.ts"

/** Half of this browser's secret; the other half is in its cookie, which alone opens nothing. */
export const PAGE_KEY = "quire-page-key"

/** What the fragment of an address asks for. */
export interface SignInAsked {
  readonly token: string
  readonly notebook: LogId | null
}

/** Read the fragment of an address; null if it has no token. */
export function readFragment(hash: string): SignInAsked | null {
  const given = new URLSearchParams(hash.slice(1))
  const token = given.get("sign-in")
  return token ? { token, notebook: given.get("notebook") } : null
}

export interface SignInParts {
  readonly fetch: Fetch
  readonly storage: Pick<Storage, "setItem">
}

/** Exchange a token for the cookie and the key of this browser's pages. Returns why it was refused, or null. */
export async function signIn(token: string, { fetch, storage }: SignInParts): Promise<string | null> {
  let response: Response
  try {
    response = await fetch("/api/sign-in", {
      method: "POST",
      headers: { Accept: "application/json", "Content-Type": "application/json" },
      body: JSON.stringify({ token }),
    })
  } catch {
    return "The server does not answer. Load this page again."
  }
  const answer = (await response.json().catch(() => null)) as { page_key?: string; error?: FaultBody } | null
  if (!response.ok || !answer?.page_key) return answer?.error?.message ?? `The server answered with ${response.status}.`
  storage.setItem(PAGE_KEY, answer.page_key)
  return null
}
