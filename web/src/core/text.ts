/**
 * Editing text together: splices, and how later ones move out of the way of earlier ones.
 *
 * An edit is a list of splices, all in the coordinates of the text before the edit, sorted, not overlapping. Positions
 * count Unicode code points. The log gives the one order; an edit made against an older text is *rebased* over the edits
 * that came first (rule 8):
 *
 * - text that both insert at one place: the earlier in the log stands first
 * - text that both remove is removed once
 * - text inserted into a stretch the other removes is kept
 *
 * `transform` is that of core/text.py, held to it by spec/cases. `compose`, `invert` and `difference` serve what is typed
 * here and not recorded yet; what they return is only sent as an edit.
 */

import { hasPairs, pointLength, unitAt } from "./points.ts"
import type { Edit, Splice } from "./types.gen.ts"

/** The text after `edit`. Total: what lies past the end is ignored. */
export function apply(text: string, edit: Edit): string {
  const at = hasPairs(text) ? (point: number) => unitAt(text, point) : (point: number) => point
  let result = ""
  let position = 0
  for (const [start, remove, insert] of edit) {
    result += text.slice(position, at(start)) + insert
    position = at(start + remove)
  }
  return result + text.slice(position)
}

/** `edit` as it reads after `earlier`, and `earlier` as they read after `edit`: what the sender's next edit meets. */
export function rebase(edit: Edit, earlier: readonly Edit[]): [edit: Edit, earlier: Edit[]] {
  const moved: Edit[] = []
  for (const one of earlier) {
    const [next, other] = transform(edit, one)
    edit = next
    moved.push(other)
  }
  return [edit, moved]
}

/**
 * Both were made on one text: each as it reads after the other.
 *
 * `apply(apply(text, earlier), result[0]) === apply(apply(text, later), result[1])`
 */
export function transform(later: Edit, earlier: Edit): [later: Edit, earlier: Edit] {
  const left = new Cursor(later)
  const right = new Cursor(earlier)
  const laterAfter = new Writer()
  const earlierAfter = new Writer()
  while (!(left.done && right.done)) {
    const theirs = right.takeInsert()
    if (theirs) {
      laterAfter.keep(pointLength(theirs))
      earlierAfter.insert(theirs)
      continue
    }
    const ours = left.takeInsert()
    if (ours) {
      laterAfter.insert(ours)
      earlierAfter.keep(pointLength(ours))
      continue
    }
    const step = Math.min(left.stretch, right.stretch)
    const leftRemoves = left.removing
    const rightRemoves = right.removing
    left.advance(step)
    right.advance(step)
    if (leftRemoves && !rightRemoves) laterAfter.remove(step)
    else if (rightRemoves && !leftRemoves) earlierAfter.remove(step)
    else if (!leftRemoves) {
      laterAfter.keep(step)
      earlierAfter.keep(step)
    }
  }
  return [laterAfter.edit(), earlierAfter.edit()]
}

function withoutEmpty(edit: Edit): Edit {
  return edit.every(isSome) ? edit : edit.filter(isSome)
}

/** One edit that does what `first` and then `second` do. */
export function compose(first: Edit, second: Edit): Edit {
  if (first.length === 0) return withoutEmpty(second)
  if (second.length === 0) return withoutEmpty(first)
  const inner = new Cursor(first)
  const outer = new Cursor(second)
  const both = new Writer()
  let text = "" // what `first` inserted here and `second` has not passed yet
  while (!(inner.done && outer.done && !text)) {
    const added = outer.takeInsert()
    if (added) {
      both.insert(added)
      continue
    }
    text ||= inner.takeInsert()
    if (text) {
      const step = Math.min(pointLength(text), outer.stretch)
      const end = unitAt(text, step)
      if (!outer.removing) both.insert(text.slice(0, end))
      outer.advance(step)
      text = text.slice(end)
    } else if (inner.removing) {
      const step = inner.stretch
      inner.advance(step)
      both.remove(step)
    } else {
      const step = Math.min(inner.stretch, outer.stretch)
      if (outer.removing) both.remove(step)
      else both.keep(step)
      inner.advance(step)
      outer.advance(step)
    }
  }
  return both.edit()
}

/** The edit that takes `edit` back: from the text after it to `text`, on which it was made. */
export function invert(text: string, edit: Edit): Edit {
  let grown = 0
  return edit.filter(isSome).map(([at, remove, insert]): Splice => {
    const inserted = pointLength(insert)
    const back: Splice = [at + grown, inserted, text.slice(unitAt(text, at), unitAt(text, at + remove))]
    grown += inserted - remove
    return back
  })
}

/** An edit that turns `before` into `after`: one splice, over all that differs. */
export function difference(before: string, after: string): Edit {
  if (before === after) return []
  const [old, now] = hasPairs(before + after) ? [Array.from(before), Array.from(after)] : [before, after]
  const limit = Math.min(old.length, now.length)
  let start = 0
  while (start < limit && old[start] === now[start]) start += 1
  let end = 0
  while (end < limit - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1
  const inserted = now.slice(start, now.length - end)
  return [[start, old.length - end - start, typeof inserted === "string" ? inserted : inserted.join("")]]
}

/** Whether two edits say the same. */
export function isSameEdit(one: Edit, other: Edit): boolean {
  return one.length === other.length && one.every((splice, index) => isSameSplice(splice, other[index]))
}

function isSameSplice(one: Splice, other: Splice | undefined): boolean {
  return other !== undefined && one[0] === other[0] && one[1] === other[1] && one[2] === other[2]
}

function isSome([, remove, insert]: Splice): boolean {
  return remove > 0 || insert !== ""
}

/** Walks an edit as inserts and as stretches that are kept or removed. */
class Cursor {
  done = false
  #splices: Edit
  #index = 0
  #position = 0
  #insert = ""
  #keep = 0
  #remove = 0

  constructor(edit: Edit) {
    this.#splices = withoutEmpty(edit)
    this.#next()
  }

  #next(): void {
    const splice = this.#splices[this.#index]
    this.#index += 1
    this.done = splice === undefined
    if (splice === undefined) return
    const [at, remove, insert] = splice
    this.#insert = insert
    this.#keep = at - this.#position
    this.#remove = remove
    this.#position = at + remove
  }

  /** The text that comes in here, if any. It is given once. */
  takeInsert(): string {
    if (this.done || this.#keep) return ""
    const text = this.#insert
    this.#insert = ""
    if (!this.#remove) this.#next()
    return text
  }

  get removing(): boolean {
    return !this.done && !this.#keep
  }

  /** How far it goes on like this; without end when nothing more changes. */
  get stretch(): number {
    return this.done ? Infinity : this.#keep || this.#remove
  }

  advance(count: number): void {
    if (this.done) return
    if (this.#keep) {
      this.#keep -= count
      return
    }
    this.#remove -= count
    if (!this.#remove) this.#next()
  }
}

/** Collects keeps, removes and inserts into splices. */
class Writer {
  #splices: Splice[] = []
  #at = 0
  #open = false

  keep(count: number): void {
    this.#at += count
    this.#open = false
  }

  remove(count: number): void {
    this.#add(count, "")
    this.#at += count
  }

  insert(text: string): void {
    this.#add(0, text)
  }

  edit(): Edit {
    return this.#splices
  }

  #add(remove: number, insert: string): void {
    const last = this.#open ? this.#splices.pop() : undefined
    if (last !== undefined) this.#splices.push([last[0], last[1] + remove, last[2] + insert])
    else this.#splices.push([this.#at, remove, insert])
    this.#open = true
  }
}
