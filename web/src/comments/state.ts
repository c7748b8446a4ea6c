/** What a window shows of a notebook's comments: which threads are unfolded, and what is being written. */

import { awaits, threads } from "../core/comments.ts"
import type { CommentThread } from "../core/comments.ts"
import type { ActorId, CellId, Comment, CommentId } from "../core/types.gen.ts"
import type { Readable } from "../hooks/values.ts"
import { CommentDrafts } from "../sync/comment_drafts.ts"
import type { DraftTarget } from "../sync/comment_drafts.ts"
import type { Live } from "../sync/live.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Value } from "../sync/store.ts"
import type { Listener, Stop } from "../sync/store.ts"

/** What comments need to know of the page that they stand on. */
export interface CommentsContext extends Pick<PageContext, "live" | "open" | "log" | "parts" | "clock" | "notify"> {
  readonly presence: Pick<PageContext["presence"], "others">
  /** Whom an @ can address beside those that the log knows. */
  readonly involved?: readonly ActorId[]
}

type Comments = ReadonlyMap<CommentId, Comment>

const THREADS = new WeakMap<Comments, readonly CommentThread[]>()

/** The threads of a notebook: the same array for the same comments. */
export function threadsOf(comments: Comments): readonly CommentThread[] {
  const known = THREADS.get(comments) ?? threads(comments)
  THREADS.set(comments, known)
  return known
}

export class CommentsState {
  readonly drafts: CommentDrafts
  /** What is being written: a field is open for each. */
  readonly composed: Value<ReadonlySet<DraftTarget>>
  /** The cells whose threads somebody unfolded or folded by hand. */
  readonly unfolded = new Value<ReadonlyMap<CellId, boolean>>(new Map())
  /** The field that takes the focus when it appears. */
  #wanted: DraftTarget | null = null
  /** The cells that have open threads, and those below which threads or a field are shown. */
  readonly marked: Readable<ReadonlySet<CellId>>
  readonly shown: Readable<ReadonlySet<CellId>>
  readonly #live: Live
  readonly #me: string

  constructor({ live, open, log, parts }: CommentsContext) {
    this.#live = live
    this.#me = open.me.actor
    this.drafts = new CommentDrafts(log, parts.storage)
    this.composed = new Value<ReadonlySet<DraftTarget>>(new Set(this.drafts.targets()))
    const subscribe = (listener: Listener): Stop => {
      const stops = [live.store.subscribe("comments", listener), this.composed.subscribe(listener), this.unfolded.subscribe(listener)]
      return () => stops.forEach((stop) => stop())
    }
    this.marked = { subscribe, get: kept(() => new Set(this.#open().flatMap(({ cell }) => cell ?? []))) }
    this.shown = { subscribe, get: kept(() => this.#shown()) }
  }

  #open(): CommentThread[] {
    return threadsOf(this.#live.store.field("comments")).filter(({ isOpen }) => isOpen)
  }

  #shown(): Set<CellId> {
    const cells = new Set<CellId>()
    for (const { cell } of this.#open()) if (cell !== null && this.isUnfolded(cell)) cells.add(cell)
    for (const target of this.composed.get()) if (target.startsWith("cell:")) cells.add(target.slice("cell:".length))
    return cells
  }

  /** Whether the threads of a cell are shown below it: as chosen by hand, else where one awaits this person. */
  isUnfolded(cell: CellId): boolean {
    const chosen = this.unfolded.get().get(cell)
    if (chosen !== undefined) return chosen
    return this.#open().some((thread) => thread.cell === cell && (awaits(thread, this.#me) || this.#isComposed(thread)))
  }

  #isComposed({ id, comments }: CommentThread): boolean {
    const composed = this.composed.get()
    return composed.has(`reply:${id}`) || [...comments.keys()].some((each) => composed.has(`edit:${each}`))
  }

  unfold(cell: CellId, isUnfolded: boolean): void {
    this.unfolded.set(new Map(this.unfolded.get()).set(cell, isUnfolded))
  }

  /** Open the field for a comment, and take the focus there. */
  compose(target: DraftTarget, text?: string): void {
    if (text !== undefined && !this.drafts.get(target)) this.drafts.set(target, text)
    this.#wanted = target
    const cell = this.#cellOf(target)
    // It stays unfolded when it is answered, and awaits nobody any more.
    if (cell !== null && !this.unfolded.get().get(cell)) this.unfold(cell, true)
    // Also where it is open already: whoever looks takes the focus again.
    this.composed.set(new Set(this.composed.get()).add(target))
  }

  /** The cell of the thread that is answered, or in which a comment is written again. */
  #cellOf(target: DraftTarget): CellId | null {
    const id = target.slice(target.indexOf(":") + 1)
    if (!target.startsWith("reply:") && !target.startsWith("edit:")) return null
    return this.#open().find(({ comments }) => comments.has(id))?.cell ?? null
  }

  /** Whether a field was asked for, and has not taken the focus yet. */
  takeWanted(target: DraftTarget): boolean {
    const isWanted = this.#wanted === target
    if (isWanted) this.#wanted = null
    return isWanted
  }

  /** Close the field; what was typed is forgotten. */
  dismiss(target: DraftTarget): void {
    this.drafts.set(target, "")
    const composed = new Set(this.composed.get())
    composed.delete(target)
    this.composed.set(composed)
  }
}

/** The same set as long as it has the same cells. */
function kept(make: () => ReadonlySet<CellId>): () => ReadonlySet<CellId> {
  let last: ReadonlySet<CellId> = new Set()
  return () => {
    const now = make()
    if (now.size !== last.size || [...now].some((id) => !last.has(id))) last = now
    return last
  }
}

const STATES = new WeakMap<Live, CommentsState>()

/** The comments of the notebook that is open in this window. */
export function commentsOf(context: CommentsContext): CommentsState {
  const state = STATES.get(context.live) ?? new CommentsState(context)
  STATES.set(context.live, state)
  return state
}

/** Whether this person may say something: who may only read is told so by the server. */
export function mayComment({ open }: Pick<CommentsContext, "open">): boolean {
  return open.me.scopes.includes("edit")
}
