/**
 * Comments as conversations: who a comment addresses, and which comments belong together.
 *
 * `@codex` addresses the person and the agent of that name, `@agent:codex` that agent alone; a reply addresses whoever wrote
 * what it answers. src/quire/core/notebook/comments.py is the same in Python; spec/cases/mentions.json and threads.json hold both to it.
 */

import type { ActorId, CellId, Comment, CommentId } from "./types.gen.ts"

// Listed rather than asked of \w and \s: those differ between languages and versions of Unicode. A name may hold any letter; of
// ASCII's punctuation it holds `_ . + -`, and it does not end with one of the last three.
const NOT_NAME =
  "\\x00-\\x2a\\x2c\\x2f\\x3a-\\x40\\x5b-\\x5e\\x60\\x7b-\\xa0\\xab\\xad\\xbb\\u061c\\u1680\\u2000-\\u206f\\u2190-\\u2bff" +
  "\\u3000-\\u303f\\ud800-\\udfff\\ufe00-\\ufe0f\\ufeff\\uff00-\\uff0f\\uff1a-\\uff20\\u{1f000}-\\u{1faff}"
// eslint-disable-next-line no-misleading-character-class -- what is combined is meant one by one
const MENTION = new RegExp(`(?<![^${NOT_NAME}])(?<![@/:])@((?:human|agent):)?([^${NOT_NAME}]*[^${NOT_NAME}.+\\-])`, "gu")

/** An `@name` in a text, at UTF-16 units `start` to `end`. */
export interface Mention {
  readonly start: number
  readonly end: number
  /** `human` or `agent`, where the text says which. */
  readonly kind: string | null
  readonly name: string
}

/** Each `@name` of a text, in its order. */
export function mentions(text: string): Mention[] {
  return [...text.matchAll(MENTION)].map((found) => ({
    start: found.index,
    end: found.index + found[0].length,
    kind: found[1]?.slice(0, -1) ?? null,
    name: found[2] ?? "",
  }))
}

/** Whether it addresses an actor. Letters A to Z and a to z count alike. */
export function means(mention: Mention, actor: ActorId): boolean {
  const colon = actor.indexOf(":")
  const kind = actor.slice(0, colon)
  if (kind !== "human" && kind !== "agent") return false
  return (mention.kind === null || mention.kind === kind) && folded(mention.name) === folded(actor.slice(colon + 1))
}

/** Whether a text addresses an actor by name. */
export function isMentioned(text: string, actor: ActorId): boolean {
  return text.includes("@") && mentions(text).some((mention) => means(mention, actor))
}

function folded(name: string): string {
  return name.replace(/[A-Z]/gu, (letter) => letter.toLowerCase())
}

// ---- Threads

/** A comment and all answers to it, in the order in which they were written. */
export interface CommentThread {
  /** Of the first comment. */
  readonly id: CommentId
  readonly first: Comment
  /** What it is about; null: the notebook as a whole. */
  readonly cell: CellId | null
  readonly comments: ReadonlyMap<CommentId, Comment>
  /** Whether it is not resolved. Only the first comment counts. */
  readonly isOpen: boolean
}

/** The conversations, in the order in which they began. */
export function threads(comments: ReadonlyMap<CommentId, Comment>): CommentThread[] {
  const roots = new Map<CommentId, CommentId>()
  const found = new Map<CommentId, Map<CommentId, Comment>>()
  for (const [id, comment] of comments) {
    // What is answered stands before its answer in every log; an answer to nothing begins a thread of its own.
    const root = comment.reply_to === null ? id : (roots.get(comment.reply_to) ?? id)
    roots.set(id, root)
    const thread = found.get(root)
    if (thread) thread.set(id, comment)
    else found.set(root, new Map([[id, comment]]))
  }
  return [...found].flatMap(([id, each]) => {
    const first = each.get(id)
    return first ? [{ id, first, cell: first.cell, comments: each, isOpen: first.resolved_by === null }] : []
  })
}

/** Whether somebody addressed an actor in a thread, and the actor has not answered since. */
export function awaits(thread: CommentThread, actor: ActorId): boolean {
  let waits = false
  for (const comment of thread.comments.values()) {
    if (comment.by === actor) waits = false
    else if (!waits) waits = isMentioned(comment.text, actor) || answers(thread, comment, actor)
  }
  return waits
}

function answers({ comments }: CommentThread, { reply_to }: Comment, actor: ActorId): boolean {
  return reply_to !== null && comments.get(reply_to)?.by === actor
}
