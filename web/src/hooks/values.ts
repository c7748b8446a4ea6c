/** Hooks that look at one value, one field or one cell: a component renders again when that is another object. */

import { useCallback, useMemo, useSyncExternalStore } from "react"
import { isEditedSince } from "../core/staleness.ts"
import type { Cell, CellId, Notebook } from "../core/types.gen.ts"
import type { Live } from "../sync/live.ts"
import type { Listener, NotebookStore, Stop } from "../sync/store.ts"

/** What `Value` is, and whatever else can be looked at. */
export interface Readable<T> {
  readonly get: () => T
  readonly subscribe: (listener: Listener) => Stop
}

/** The value as it is. */
export function useValue<T>({ subscribe, get }: Readable<T>): T {
  return useSyncExternalStore(subscribe, get)
}

/** One question about a value: `ask` has to answer with the same object as long as nothing changed. */
export function useAsked<T, A>(value: Readable<T>, ask: (value: T) => A): A {
  return useSyncExternalStore(value.subscribe, () => ask(value.get()))
}

/** What `ask` finds in the store: asked again when a field is another object. */
function useStored<A>({ store }: Live, field: Parameters<NotebookStore["subscribe"]>[0], ask: (store: NotebookStore) => A): A {
  const subscribe = useCallback((listener: Listener) => store.subscribe(field, listener), [store, field])
  return useSyncExternalStore(subscribe, () => ask(store))
}

/** A field of the notebook that is shown. */
export function useField<K extends keyof Notebook>(live: Live, field: K): Notebook[K] {
  return useStored(live, field, (store) => store.field(field))
}

/** A cell that is shown; undefined when there is none of that id. */
export function useCell(live: Live, id: CellId): Cell | undefined {
  const subscribe = useCallback((listener: Listener) => live.store.subscribeCell(id, listener), [live, id])
  return useSyncExternalStore(subscribe, () => live.store.cell(id))
}

/**
 * The cell as its row draws it. While an editor shows the text, a cell that differs in its text alone is drawn alike: a
 * key then costs React nothing, however many rows there are.
 */
export function useDrawnCell(live: Live, id: CellId, isEdited: boolean): Cell | undefined {
  const subscribe = useCallback((listener: Listener) => live.store.subscribeCell(id, listener), [live, id])
  const draw = useMemo(() => {
    let drawn: Cell | undefined
    return (isTextShown: boolean): Cell | undefined => {
      const now = live.store.cell(id)
      if (!isTextShown || !drawn || !now || !isDrawnAlike(drawn, now)) drawn = now
      return drawn
    }
  }, [live, id])
  return useSyncExternalStore(subscribe, () => draw(isEdited))
}

const OF_TEXT: ReadonlySet<string> = new Set<keyof Cell>(["source", "edited_by", "edited_from", "changed_seq"])

/** Whether two versions of a cell differ in their text alone, and both are what was run, or neither is. */
function isDrawnAlike(one: Cell, other: Cell): boolean {
  if (one === other) return true
  const fields = Object.keys(one) as (keyof Cell)[]
  if (!fields.every((name) => OF_TEXT.has(name) || Object.is(one[name], other[name]))) return false
  const { execution } = one
  return execution === null || isEditedSince(one, execution) === isEditedSince(other, execution)
}

/** A question about the notebook and its cells, answered with a text or a number; for what few components ask. */
export function useShown<A extends string | number | boolean | null>(live: Live, ask: (notebook: Notebook) => A): A {
  return useStored(live, "cells", (store) => ask(store.get()))
}

/** The stale cells, all of them. */
export function useStale(live: Live): ReadonlySet<CellId> {
  return useStored(live, "stale", (store) => store.stale())
}

/** Whether one cell is stale. */
export function useIsStale(live: Live, id: CellId): boolean {
  return useStored(live, "stale", (store) => store.stale().has(id))
}

/** The ids of the cells that a person sees, from top to bottom: the same array as long as it has the same cells. */
export function useLiveOrder(live: Live): readonly CellId[] {
  return useStored(live, "visible", (store) => store.visible())
}
