/** Notebooks as they were when last seen, in the browser's storage: they open again without the server. */

import { readNotebook, writeNotebook } from "../core/notebook.ts"
import { REDUCER } from "../core/types.gen.ts"
import type { JsonObject, LogId, Notebook } from "../core/types.gen.ts"
import type { Me } from "./frames.ts"

export interface Snapshots {
  read(log: LogId): Promise<Snapshot | null>
  write(log: LogId, snapshot: Snapshot): Promise<void>
}

/** What is kept: of another version of the reducer, it is of no use. */
export interface Snapshot {
  readonly reducer: number
  readonly me: Me
  readonly notebook: JsonObject
}

export function takeSnapshot(notebook: Notebook, me: Me): Snapshot {
  return { reducer: REDUCER, me, notebook: writeNotebook(notebook) }
}

/** The notebook of a snapshot; null if this version cannot go on from it. */
export function readSnapshot(snapshot: Snapshot | null): Notebook | null {
  return snapshot?.reducer === REDUCER ? readNotebook(snapshot.notebook) : null
}

const DATABASE = "quire"
const TABLE = "notebooks"

/** Kept in IndexedDB, which has room for large ones. */
export class IndexedDbSnapshots implements Snapshots {
  readonly #database: Promise<IDBDatabase>

  constructor(factory: IDBFactory) {
    const opening = factory.open(DATABASE, 1)
    opening.onupgradeneeded = () => void opening.result.createObjectStore(TABLE)
    this.#database = done(opening)
  }

  async read(log: LogId): Promise<Snapshot | null> {
    const database = await this.#database
    const found: unknown = await done(database.transaction(TABLE).objectStore(TABLE).get(log))
    return (found as Snapshot | undefined) ?? null
  }

  async write(log: LogId, snapshot: Snapshot): Promise<void> {
    const database = await this.#database
    await done(database.transaction(TABLE, "readwrite").objectStore(TABLE).put(snapshot, log))
  }
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error ?? new Error("The browser's storage failed."))
  })
}
