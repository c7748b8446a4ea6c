/**
 * What accepting a proposal, or some of it, would come to now.
 *
 * The server decides by core/rules/proposal_rules.py; this foresees it, so that a person sees the difference against the text
 * as it is, what was carried over, and what can no longer happen. tests/web/test_same_proposals.py holds both together.
 */

import { appliedEdit, by, cellChanges } from "./events.ts"
import { sourceHash } from "./hash.ts"
import { runs } from "./notebook.ts"
import { pointLength } from "./points.ts"
import { Fold } from "./reduce.ts"
import { rebase } from "./text.ts"
import { RUNS } from "./types.gen.ts"
import type { ActorId, Cell, CellChange, CellId, Edit, Entry, KnownEvent, Notebook, Proposal, RunCell, SourceEdited } from "./types.gen.ts"

/** An edit that was made after the one that is proposed. */
export interface EarlierEdit {
  readonly by: ActorId
  readonly edit: Edit
}

/**
 * The edits of a cell after a number. `unknown`: they are still asked for. `added`: the cell was added after that number, and
 * an edit from before it does not fit.
 */
export type EarlierEdits = (cell: CellId, base: number) => readonly EarlierEdit[] | "unknown" | "added"

/** Why a part cannot be accepted now. */
export type Problem =
  | { readonly kind: "unknown" }
  /** A cell that it changes, or stands behind, is gone. */
  | { readonly kind: "gone"; readonly cell: CellId }
  | { readonly kind: "exists"; readonly cell: CellId }
  /** The text was changed, and the change does not fit it any more. */
  | { readonly kind: "changed"; readonly by: ActorId }
  /** The code to run is not what was shown. */
  | { readonly kind: "void" }
  | { readonly kind: "queued"; readonly by: ActorId }
  | { readonly kind: "used" }
  /** It builds on parts that are left out. */
  | { readonly kind: "needs"; readonly numbers: readonly number[] }

/** One change or effect of a proposal, as it would be now. */
export interface PreviewPart {
  readonly number: number
  readonly problem: Problem | null
  /** The cell before this part and after it. */
  readonly before: Cell | null
  readonly after: Cell | null
  /** Who typed what this part was carried over. */
  readonly carried: readonly ActorId[]
  /** Whether they removed text that this part removes too: both wrote in one place. */
  readonly isOverlapping: boolean
}

export interface Preview {
  readonly parts: ReadonlyMap<number, PreviewPart>
  /** Whether the server would take this selection. */
  readonly isPossible: boolean
  /** The notebook as it would be; without the parts that cannot be. */
  readonly after: Notebook
}

/** How many changes and effects a proposal has. */
export function partCount({ changes, effects }: Proposal): number {
  return changes.length + effects.length
}

/** Foresee the acceptance of a selection; of all with null. */
export function previewProposal(now: Notebook, proposal: Proposal, selection: readonly number[] | null, earlier: EarlierEdits): Preview {
  return new Attempt(now, proposal, selection, earlier).preview()
}

type Completed =
  | { readonly change: CellChange; readonly carried?: readonly ActorId[]; readonly isOverlapping?: boolean }
  | { readonly problem: Problem }

class Attempt {
  readonly #now: Notebook
  readonly #proposal: Proposal
  readonly #isWhole: boolean
  readonly #chosen: ReadonlySet<number>
  readonly #folding: Fold
  readonly #earlier: EarlierEdits
  readonly #bases = new Map<CellId, number>()
  readonly #moved = new Map<string, Edit[]>()
  readonly #parts = new Map<number, PreviewPart>()
  /** Whole texts that are carried over as edits. */
  readonly #wholes = new Set<CellChange>()

  constructor(now: Notebook, proposal: Proposal, selection: readonly number[] | null, earlier: EarlierEdits) {
    this.#now = now
    this.#proposal = proposal
    this.#isWhole = selection === null
    this.#chosen = new Set(selection ?? Array.from({ length: partCount(proposal) }, (_, number) => number))
    this.#earlier = earlier
    this.#folding = new Fold(now)
  }

  preview(): Preview {
    const { changes, effects } = this.#proposal
    const chosen = changes.flatMap((change, number) => (this.#chosen.has(number) ? [[number, change] as const] : []))
    const carried = asCarriedOver(this.#now, chosen.map(([, change]) => change), this.#proposal.seq)
    const added = new Set(chosen.flatMap(([, change]) => (change.type === "cell_added" ? [change.cell] : [])))
    chosen.forEach(([number], place) => {
      const change = carried[place]
      if (!change) return
      if (change !== chosen[place]?.[1]) this.#wholes.add(change)
      this.#change(number, change, added)
    })
    effects.forEach((effect, place) => {
      const number = changes.length + place
      if (this.#chosen.has(number)) this.#effect(number, effect)
    })
    const isPossible = this.#chosen.size > 0 && [...this.#parts.values()].every(({ problem }) => problem === null)
    return { parts: this.#parts, isPossible, after: this.#folding.notebook() }
  }

  #cell(id: CellId): Cell | null {
    return this.#folding.now.cells.get(id) ?? null
  }

  #known(id: CellId | null): boolean {
    return id === null || this.#cell(id)?.scratch === false
  }

  #live(id: CellId): boolean {
    const cell = this.#cell(id)
    return cell !== null && !cell.scratch && !cell.removed
  }

  #take(event: KnownEvent): void {
    const { seq, updated_at: at } = this.#now
    const entry: Entry = { log: "", seq: seq + 1, id: "", at: at ?? "", actor: "human:", event }
    this.#folding.predict(entry)
  }

  // ---- Changes

  #change(number: number, change: CellChange, added: ReadonlySet<CellId>): void {
    const before = this.#cell(change.cell)
    const left = this.#leftOut(number, change)
    const done: Completed = left.length ? { problem: { kind: "needs", numbers: left } } : this.#completed(change, added)
    if ("problem" in done) {
      this.#parts.set(number, { number, problem: done.problem, before, after: before, carried: [], isOverlapping: false })
      return
    }
    this.#take(done.change)
    const { carried = [], isOverlapping = false } = done
    this.#parts.set(number, { number, problem: null, before, after: this.#cell(change.cell), carried, isOverlapping })
  }

  /** The edits, or the cell, that an edit of text was made on top of and that are not chosen. */
  #leftOut(number: number, change: CellChange): number[] {
    if (change.type !== "source_edited") return []
    return this.#proposal.changes.flatMap((other, place) => {
      const isBase = place < number && other.cell === change.cell && (other.type === "source_edited" || other.type === "cell_added")
      return isBase && !this.#chosen.has(place) ? [place] : []
    })
  }

  #completed(change: CellChange, added: ReadonlySet<CellId>): Completed {
    const { cell } = change
    const gone: Completed = { problem: { kind: "gone", cell } }
    if (change.type === "cell_added") return this.#addition(change)
    const was = this.#now.cells.get(cell)
    if (!added.has(cell) && (!was || was.scratch || was.removed)) return gone
    if (!this.#known(cell)) return gone
    switch (change.type) {
      case "cell_moved":
        return this.#known(change.after) && change.after !== cell ? { change } : { problem: { kind: "gone", cell: change.after ?? cell } }
      case "cell_removed":
        if (typeof change.base_hash !== "string") return { change }
        return this.#live(cell) ? this.#against(change, change.base_hash) : gone
      case "source_edited":
        if (typeof change.text === "string") return this.#live(cell) ? this.#against(change, change.base_hash ?? "") : gone
        return this.#rebased(change)
      default:
        return { change }
    }
  }

  #addition(change: Extract<CellChange, { type: "cell_added" }>): Completed {
    const { cell, after } = change
    if (!this.#known(after) || after === cell) return { problem: { kind: "gone", cell: after ?? cell } }
    const before = this.#cell(cell)
    return before && (before.scratch || !before.removed) ? { problem: { kind: "exists", cell } } : { change }
  }

  /** A change of a text that has to be as it was seen. */
  #against(change: CellChange, hash: string): Completed {
    const cell = this.#cell(change.cell)
    if (cell && sourceHash(cell.source) === hash) return { change }
    return { problem: { kind: "changed", by: cell?.edited_by ?? "" } }
  }

  #rebased(change: SourceEdited): Completed {
    const { cell, edit = [] } = change
    const base = change.base ?? 0
    const by = this.#cell(cell)?.edited_by ?? ""
    const first = this.#bases.get(cell) ?? base
    this.#bases.set(cell, first)
    if (base < 1 || base > this.#now.seq || first !== base) return { problem: { kind: "changed", by } }
    const earlier = this.#earlier(cell, base)
    if (earlier === "unknown") return { problem: { kind: "unknown" } }
    if (earlier === "added") return { problem: { kind: "changed", by } }
    const key = `${base} ${cell}`
    const [applied, rest] = rebase(edit, this.#moved.get(key) ?? earlier.map((one) => one.edit))
    this.#moved.set(key, rest)
    if (!fits(applied, pointLength(this.#cell(cell)?.source ?? ""))) return { problem: { kind: "changed", by } }
    const carried = [...new Set(earlier.map((one) => one.by))]
    const isOverlapping = removedBy(applied) < removedBy(edit)
    // Of two who replaced the same text with another, the later is asked again.
    if (isOverlapping && this.#wholes.has(change)) return { problem: { kind: "changed", by } }
    return { change: { type: "source_edited", cell, base, edit, applied }, carried, isOverlapping }
  }

  // ---- Effects

  #effect(number: number, effect: RunCell): void {
    const before = this.#cell(effect.cell)
    const problem = this.#effectProblem(effect)
    if (problem === null) this.#take(requestOf(effect))
    const after = this.#cell(effect.cell) ?? before
    this.#parts.set(number, { number, problem, before, after, carried: [], isOverlapping: false })
  }

  #effectProblem(effect: RunCell): Problem | null {
    const { cell: id, execution, source_hash: hash, cell_kind: kind = "code", needs = null } = effect
    const { executions, cells } = this.#folding.now
    // What waited for an effect that is not chosen waits for nothing.
    const isNeeded = needs !== null && (this.#isWhole || this.#proposal.effects.some((other, place) => other.execution === needs && this.#chosen.has(this.#proposal.changes.length + place)))
    if (isNeeded && !executions.has(needs)) return { kind: "needs", numbers: [] }
    if (executions.has(execution)) return { kind: "used" }
    if (typeof effect.source === "string") {
      if (cells.has(id)) return { kind: "exists", cell: id }
      return sourceHash(effect.source) === hash && (RUNS as readonly string[]).includes(kind) ? null : { kind: "void" }
    }
    const cell = this.#cell(id)
    if (!cell || cell.scratch || cell.removed) return { kind: "gone", cell: id }
    if (sourceHash(cell.source) !== hash || cell.kind !== kind || !runs(cell)) return { kind: "void" }
    if (cell.queued) return { kind: "queued", by: cell.queued.by }
    return cell.execution?.id === execution ? { kind: "used" } : null
  }
}

function requestOf(effect: RunCell): KnownEvent {
  const { execution, cell, source_hash, needs = null, source, cell_kind: kind = "code" } = effect
  if (typeof source === "string") return { type: "scratch_requested", execution, cell, source, kind }
  return { type: "execution_requested", execution, cell, source_hash, needs }
}

function removedBy(edit: Edit): number {
  return edit.reduce((sum, [, remove]) => sum + remove, 0)
}

/** Whether an edit is sorted and does not reach past the end of a text. */
function fits(edit: Edit, length: number): boolean {
  let position = 0
  for (const [at, remove] of edit) {
    if (at < position || remove < 0) return false
    position = at + remove
  }
  return position <= length
}

/** Whole texts as edits against the number of the proposal, where the cell changed since: as core/rules/cell_rules.py. */
function asCarriedOver(now: Notebook, changes: readonly CellChange[], proposed: number): CellChange[] {
  const moved = movedOn(now, changes)
  return changes.map((change) => {
    const isCarried = change.type === "source_edited" && change.applied && moved.has(change.cell)
    return isCarried ? { type: "source_edited", cell: change.cell, edit: change.applied ?? [], base: proposed } : change
  })
}

/** The cells whose text is not the one that the first edit of it, a whole text, was made against. */
function movedOn(now: Notebook, changes: readonly CellChange[]): Set<CellId> {
  const seen = new Set<CellId>()
  const moved = new Set<CellId>()
  for (const change of changes) {
    if ((change.type !== "source_edited" && change.type !== "cell_added") || seen.has(change.cell)) continue
    seen.add(change.cell)
    const cell = now.cells.get(change.cell)
    const isWhole = change.type === "source_edited" && typeof change.text === "string"
    if (isWhole && cell && sourceHash(cell.source) !== change.base_hash) moved.add(change.cell)
  }
  return moved
}

// ---- What is chosen together

/** For each part, the parts before it that it builds on. */
export function builtOn({ changes, effects }: Proposal): readonly (readonly number[])[] {
  const ofChanges = changes.map((change, number) => changes.slice(0, number).flatMap((other, place) => (buildsOn(change, other) ? [place] : [])))
  const ofEffects = effects.map(({ cell, source }) =>
    typeof source === "string" ? [] : changes.flatMap((other, place) => (other.cell === cell && MAKE_CODE.has(other.type) ? [place] : [])),
  )
  return [...ofChanges, ...ofEffects]
}

const MAKE_CODE: ReadonlySet<CellChange["type"]> = new Set(["cell_added", "source_edited", "cell_kind_changed"] as const)

function buildsOn(change: CellChange, other: CellChange): boolean {
  const isBehind = (change.type === "cell_added" || change.type === "cell_moved") && change.after === other.cell
  if (isBehind && other.type === "cell_added") return true
  if (change.cell !== other.cell) return false
  if (other.type === "cell_added") return true
  if (other.type === "cell_removed") return change.type === "cell_added"
  return other.type === "source_edited" && (change.type === "source_edited" || (change.type === "cell_removed" && typeof change.base_hash === "string"))
}

/** The parts with all that they build on. */
export function withBases(built: readonly (readonly number[])[], numbers: Iterable<number>): Set<number> {
  const found = new Set<number>()
  const waiting = [...numbers]
  for (let number = waiting.pop(); number !== undefined; number = waiting.pop()) {
    if (found.has(number)) continue
    found.add(number)
    waiting.push(...(built[number] ?? []))
  }
  return found
}

/** The parts with all that builds on them. */
export function withDependents(built: readonly (readonly number[])[], numbers: Iterable<number>): Set<number> {
  const found = new Set(numbers)
  // What builds on a part comes after it: one pass is enough.
  built.forEach((bases, number) => {
    if (bases.some((base) => found.has(base))) found.add(number)
  })
  return found
}

/** What the entries of a log did to the text of a cell after a number. */
export function earlierEdits(entries: readonly Entry[], cell: CellId, base: number): readonly EarlierEdit[] | "added" {
  const edits: EarlierEdit[] = []
  for (const entry of entries) {
    if (entry.seq <= base) continue
    for (const change of cellChanges(entry.event)) {
      if (change.cell !== cell) continue
      if (change.type === "cell_added") return "added"
      if (change.type === "source_edited") edits.push({ by: by(entry), edit: appliedEdit(change) })
    }
  }
  return edits
}
