/**
 * What is true across notebooks: the fold of the workspace log.
 *
 * Actors, roles, policies, tokens (without their secrets), schedules and logs that came from elsewhere.
 */

import { by, onBehalfOf } from "./events.ts"
import { MOST_ASKED } from "./types.gen.ts"
import type { ActorId, Directory, Entry, LogId, Policy, PolicySet, Schedule, ScheduleSkipped } from "./types.gen.ts"
import type { Scope, Token, TokenCreated } from "./types.gen.ts"

type Writable<T> = { -readonly [K in keyof T]: T[K] extends ReadonlyMap<infer A, infer B> ? Map<A, B> : T[K] }

/** A workspace log without entries. */
export function emptyDirectory(): Directory {
  const [actors, roles, tokens, imports, paused] = [new Map(), new Map(), new Map(), new Map(), new Map()]
  return { seq: 0, actors, roles, policies: [], tokens, imports, paused, schedules: new Map(), skipped: 0 }
}

/** The directory that `entries` of the workspace log make of `start`. */
export function foldDirectory(entries: Iterable<Entry>, start: Directory = emptyDirectory()): Directory {
  const now: Writable<Directory> = {
    ...start,
    actors: new Map(start.actors),
    roles: new Map(start.roles),
    tokens: new Map(start.tokens),
    imports: new Map(start.imports),
    paused: new Map(start.paused),
    schedules: new Map(start.schedules),
  }
  for (const entry of entries) {
    now.seq = entry.seq
    add(now, entry)
  }
  return now
}

/** Where the role of an actor is found in `roles`. */
export function roleKey(notebook: LogId | null, actor: ActorId): string {
  return `${notebook ?? "*"} ${actor}`
}

function add(now: Writable<Directory>, entry: Entry): void {
  const { event } = entry
  switch (event.type) {
    case "actor_known":
      now.actors.set(event.actor, { name: event.name ?? "", metadata: event.metadata ?? {} })
      break
    case "role_set":
      if (event.role === null) now.roles.delete(roleKey(event.notebook ?? null, event.actor))
      else now.roles.set(roleKey(event.notebook ?? null, event.actor), event.role)
      break
    case "policy_set":
      now.policies = withPolicy(now.policies, event)
      break
    case "token_created":
      now.tokens.set(event.token, createdToken(entry, event))
      break
    case "token_revoked": {
      const token = now.tokens.get(event.token)
      if (token) now.tokens.set(event.token, { ...token, revoked_by: by(entry) })
      break
    }
    case "actor_paused":
      now.paused.set(event.token ?? event.actor ?? "", { by: by(entry), at: entry.at, why: event.why ?? "" })
      break
    case "actor_resumed":
      now.paused.delete(event.token ?? event.actor ?? "")
      break
    case "schedule_added":
      now.schedules.set(event.schedule, {
        id: entry.id,
        plan: event.plan,
        scopes: event.scopes ?? ["read", "edit", "run"],
        asks: event.asks ?? [],
        by: by(entry),
        on_behalf_of: onBehalfOf(entry),
        added_at: entry.at,
        changed_at: entry.at,
        since: entry.at,
        paused: null,
        resumed_at: null,
        removed: null,
        asked: [],
        skipped: null,
        skipped_until: null,
      })
      break
    case "schedule_changed":
      changeSchedule(now, event.schedule, ({ plan, since }) => {
        const isSameTime = plan.when === event.plan.when && (plan.timezone ?? "UTC") === (event.plan.timezone ?? "UTC")
        const whose = { by: by(entry), on_behalf_of: onBehalfOf(entry) }
        return { plan: event.plan, ...whose, changed_at: entry.at, since: isSameTime ? since : entry.at }
      })
      break
    case "schedule_paused":
      changeSchedule(now, event.schedule, () => ({ paused: { by: by(entry), at: entry.at, why: event.why ?? "" } }))
      break
    case "schedule_resumed":
      changeSchedule(now, event.schedule, () => ({ paused: null, resumed_at: entry.at }))
      break
    case "schedule_removed":
      changeSchedule(now, event.schedule, () => ({ removed: { by: by(entry), at: entry.at, why: "" } }))
      break
    case "schedule_asked":
      changeSchedule(now, event.schedule, ({ asked }) => ({
        asked: [...asked, { at: entry.at, by: by(entry) }].slice(-MOST_ASKED),
      }))
      break
    case "schedule_skipped":
      changeSchedule(now, event.schedule, (schedule) => skipped(schedule, entry, event))
      break
    case "log_imported":
      now.imports.set(event.log, { seq: event.seq, hash: event.hash, by: by(entry), at: entry.at })
      break
    case "log_pruned":
    case "payload_redacted":
      break
    default:
      now.skipped += 1
  }
}

function changeSchedule(now: Writable<Directory>, name: string, change: (before: Schedule) => Partial<Schedule>): void {
  const before = now.schedules.get(name)
  if (before) now.schedules.set(name, { ...before, ...change(before) })
}

/** What was asked for out of turn says nothing of when a schedule is due by itself. */
function skipped(before: Schedule, entry: Entry, event: ScheduleSkipped): Partial<Schedule> {
  const { due, until, count = 1, reason, why = "" } = event
  const asked = before.asked.filter((run) => run.at !== due)
  const last = before.skipped_until ?? ""
  const isAsked = asked.length < before.asked.length
  const skipped_until = isAsked ? before.skipped_until : until > last ? until : last
  return { skipped: { due, until, count, reason, why, at: entry.at }, skipped_until, asked }
}

function withPolicy(policies: readonly Policy[], event: PolicySet): readonly Policy[] {
  const { notebook = null, actor = null, effects } = event
  const others = policies.filter((policy) => policy.notebook !== notebook || policy.actor !== actor)
  return Object.keys(effects).length ? [...others, { notebook, actor, effects }] : others
}

function createdToken(entry: Entry, event: TokenCreated): Token {
  const scopes = scopesToday(event.actor, event.scopes)
  return {
    actor: event.actor,
    scopes,
    on_behalf_of: event.on_behalf_of ?? null,
    notebooks: event.notebooks ?? null,
    expires_at: event.expires_at ?? null,
    asks: (event.asks ?? []).filter((scope) => scopes.includes(scope)),
    once: event.once ?? false,
    then_until: event.then_until ?? null,
    version: event.version ?? 0,
    created_by: by(entry),
    created_at: entry.at,
    revoked_by: null,
    parent: event.parent ?? null,
  }
}

/**
 * The scopes of a token as they count: old logs hold some that its kind of actor is no longer given. `run` of a runtime
 * meant to do what others ask for, which is `serve` now; and only humans say yes.
 */
function scopesToday(actor: ActorId, scopes: readonly Scope[]): readonly Scope[] {
  const kind = actor.slice(0, actor.indexOf(":"))
  if (kind === "human") return scopes
  if (kind !== "runtime") return scopes.filter((scope) => scope !== "approve")
  const today = scopes.map((scope) => (scope === "run" ? "serve" : scope))
  return [...new Set(today)].filter((scope) => scope === "read" || scope === "serve")
}
