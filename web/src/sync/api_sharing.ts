/** Sharing over HTTP: who may do what in a notebook, invitations, my browsers, and what coding agents need to come in. */

import type { ActorId, LogId, Role, Scope } from "../core/types.gen.ts"
import type { Api } from "./api.ts"
import { address } from "./api_requests.ts"
import type { NewToken, TokenWanted } from "./api_types.ts"
import type { Me } from "./frames.ts"
import { Value } from "./store.ts"

// ---- Who may do what

/** What a person or an agent may do in a notebook. */
export interface AccessLine {
  readonly actor: ActorId
  readonly on_behalf_of: ActorId | null
  readonly role: Role | null
  /** Where the role comes from: given here, its maker's, given in all notebooks. */
  readonly source: "given" | "made" | "everywhere" | "none"
  /** Whether they can come in: with a token; with a link that was not used yet; not now. */
  readonly state: "in" | "invited" | "out"
  readonly scopes: readonly Scope[]
  readonly asks: readonly Scope[]
  readonly until: string | null
  readonly is_limited: boolean
}

export interface NotebookAccess {
  readonly notebook: LogId
  /** Whether nobody has a role in it: then tokens alone decide. */
  readonly is_open: boolean
  readonly lines: readonly AccessLine[]
  /** Why this person may not change roles, or invite; null: they may. */
  readonly manage_refusal: string | null
  readonly invite_refusal: string | null
}

export function notebookAccess(api: Api, log: LogId): Promise<NotebookAccess> {
  return api.requests.read(address(["notebooks", log, "access"]))
}

// ---- Invitations

export interface InvitationWanted {
  readonly name: string
  readonly notebook: LogId
  readonly role: Role
  /** Whether they also see the notebooks that are open to everybody. */
  readonly everywhere: boolean
  readonly expires_at: string
  /** Whether the name may be that of somebody who is known here. */
  readonly existing?: boolean
}

/** A person who may come in. The secret is in this answer and never again. */
export interface Invitation {
  readonly token: string
  readonly secret: string
  readonly actor: ActorId
  readonly role: Role
  readonly notebook: LogId
  readonly expires_at: string
  readonly signed_in_until: string
  readonly was_known: boolean
}

export function invite(api: Api, wanted: InvitationWanted): Promise<Invitation> {
  return api.requests.post(address(["invitations"]), wanted)
}

/** The address that signs one browser in, once. What stands behind `#` is sent to no server. */
export function invitationLink(origin: string, { secret, notebook }: Pick<Invitation, "secret" | "notebook">): string {
  return `${origin}/#${new URLSearchParams({ "sign-in": secret, notebook }).toString()}`
}

// ---- My browsers

export interface BrowserSession {
  readonly token: string
  readonly signed_in_at: string
  readonly expires_at: string | null
  readonly is_this: boolean
  /** How many tokens were made with it and end with it. */
  readonly ends_with_it: number
}

export function browserSessions(api: Api): Promise<readonly BrowserSession[]> {
  return api.requests.read(address(["browsers"]))
}

export async function signOutBrowser(api: Api, token: string): Promise<void> {
  await api.requests.post(address(["browsers", token, "sign-out"]))
}

// ---- Coding agents

/** What to paste so that one coding agent finds the tools of this server. */
export interface AgentSettings {
  readonly name: string
  readonly title: string
  /** The file that the text belongs into. */
  readonly file: string
  readonly text: string
  /** The command of the agent that does the same. */
  readonly command: string | null
  readonly note: string
}

/** The settings of each coding agent, with the token in them. The secret does not leave this browser for that. */
export async function agentSettings(api: Api, origin: string, secret: string): Promise<readonly AgentSettings[]> {
  const listed: readonly (AgentSettings & { readonly placeholder: string })[] = await api.requests.read(address(["agents"], { origin }))
  return listed.map(({ placeholder, ...settings }) => ({
    ...settings,
    text: settings.text.replaceAll(placeholder, secret),
    command: settings.command?.replaceAll(placeholder, secret) ?? null,
  }))
}

/** The agent for which a token was made in this window last: the tour goes on then. */
export const agentLetIn = new Value<ActorId | null>(null)

export interface AgentTokenForm {
  readonly name: string
  readonly asks: boolean
  /** Only in this notebook; null for all. */
  readonly notebook: LogId | null
}

/** What is asked of the server for an agent that acts for this person, for as long as this browser is signed in. */
export function agentTokenWanted({ name, asks, notebook }: AgentTokenForm, me: Pick<Me, "actor" | "expires_at" | "scopes">): TokenWanted {
  const scopes = (["read", "edit", "run"] as const).filter((scope) => me.scopes.includes(scope))
  return {
    actor: `agent:${name.trim()}`,
    scopes,
    on_behalf_of: me.actor,
    ...(asks ? { asks: scopes.filter((scope) => scope !== "read") } : {}),
    ...(notebook === null ? {} : { notebooks: [notebook] }),
    ...(me.expires_at ? { expires_at: me.expires_at } : {}),
  }
}

export async function letAgentIn(api: Api, form: AgentTokenForm, me: Pick<Me, "actor" | "expires_at" | "scopes">): Promise<NewToken> {
  const wanted = agentTokenWanted(form, me)
  const token = await api.createToken(wanted)
  agentLetIn.set(wanted.actor)
  return token
}
