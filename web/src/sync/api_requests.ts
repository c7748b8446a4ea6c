/** Requests to the server: JSON and bytes, there and back. A fault is thrown as the server names it. */

import type { Json } from "../core/types.gen.ts"
import { Fault, unreachable } from "./fault.ts"
import type { FaultBody } from "./fault.ts"

/** What is used of `fetch`. */
export type Fetch = (path: string, init?: RequestInit) => Promise<Response>

type Sent = Omit<RequestInit, "headers"> & { readonly headers?: Readonly<Record<string, string>> }
type Query = Readonly<Record<string, string | number | boolean | null | undefined>>

/** An address of the API: each part of the path is escaped, and what is undefined is left out of the query. */
export function address(parts: readonly string[], query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null)
  const asked = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return `/api/${parts.map(encodeURIComponent).join("/")}${asked && `?${asked}`}`
}

export class Requests {
  readonly #fetch: Fetch

  constructor(fetch: Fetch) {
    this.#fetch = fetch
  }

  /** Read JSON. The type is the caller's word: the server's description has it. */
  async read<T>(path: string): Promise<T> {
    return (await (await this.send(path)).json()) as T
  }

  /** Send JSON, and read the answer. */
  async post<T>(path: string, body: unknown = {}): Promise<T> {
    const response = await this.send(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    })
    return (response.status === 204 ? null : await response.json()) as T
  }

  /** Send bytes, and read the answer. */
  async put<T>(method: "POST" | "PUT", path: string, bytes: Blob | Uint8Array<ArrayBuffer>): Promise<T> {
    const response = await this.send(path, {
      method,
      headers: { "Content-Type": "application/octet-stream" },
      body: bytes,
    })
    return (await response.json()) as T
  }

  async send(path: string, init: Sent = {}): Promise<Response> {
    let response: Response
    try {
      response = await this.#fetch(path, { ...init, headers: { Accept: "application/json", ...init.headers } })
    } catch {
      throw unreachable()
    }
    if (!response.ok) throw await readFault(response)
    return response
  }
}

async function readFault(response: Response): Promise<Fault> {
  try {
    const { error } = (await response.json()) as { readonly error: FaultBody & { readonly details?: Record<string, Json> } }
    return new Fault(error, response.status)
  } catch {
    const message = `The server answered with ${response.status}.`
    return new Fault({ kind: response.status >= 500 ? "Unavailable" : "BadInput", message }, response.status)
  }
}
