/** The real things that sync works with, in a browser: the only file that names them. Tests bring their own. */

import { newCellId, ulid } from "../core/ids.ts"
import type { CellId } from "../core/types.gen.ts"
import { Api } from "./api.ts"
import { systemClock } from "./clock.ts"
import { HeartbeatLocks, WebLocks } from "./locks.ts"
import type { WindowLocks } from "./locks.ts"
import type { OpenParts } from "./open.ts"
import { keepPage } from "./offline_page.ts"
import { IndexedDbSnapshots } from "./snapshots.ts"
import { PAGE_KEY, signIn } from "./sign_in.ts"
import { Socket } from "./socket.ts"
import type { Connection } from "./socket.ts"

const entropy = (count: number): Uint8Array => crypto.getRandomValues(new Uint8Array(count))

/** A new id for an event, an execution or a window. */
export function newId(): string {
  return ulid(Date.now(), entropy)
}

/** A new id for a cell beside those that there are. */
export function newCell(taken: Iterable<CellId>): CellId {
  return newCellId(taken, entropy)
}

/** What `openNotebook` needs, in this page. The socket is started. */
export function browserParts(): OpenParts {
  const socket = new Socket({ connect: connectHere, clock: systemClock, random: Math.random })
  addEventListener("online", () => socket.retry())
  socket.start()
  void keepPage((navigator as { readonly serviceWorker?: ServiceWorkerContainer }).serviceWorker, systemClock)
  return {
    api: new Api(fetchHere, newId),
    socket,
    clock: systemClock,
    storage: localStorage,
    locks: locksHere(),
    snapshots: new IndexedDbSnapshots(indexedDB),
    window: newId(),
    newId,
  }
}

/** Sign this browser in. Returns why it was refused, or null. */
export function signInHere(token: string): Promise<string | null> {
  return signIn(token, { fetch: fetchHere, storage: localStorage })
}

/** Forget this browser's half of its secret: it has signed out. */
export function forgetPageKey(): void {
  localStorage.removeItem(PAGE_KEY)
}

function pageKey(): string {
  return localStorage.getItem(PAGE_KEY) ?? ""
}

function fetchHere(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers)
  headers.set("X-Quire-Page-Key", pageKey())
  return fetch(path, { ...init, headers })
}

function connectHere(): Connection {
  const url = new URL("/api/socket", location.href)
  url.protocol = url.protocol.replace("http", "ws")
  const line = new WebSocket(url)
  // A browser sets no headers here: the first frame brings the key, and nothing is answered before it.
  line.addEventListener("open", () => line.send(JSON.stringify({ type: "hello", page_key: pageKey() })), { once: true })
  return line as unknown as Connection // it says more of its events than is used here
}

function locksHere(): WindowLocks {
  // Not there on a page without https, but for localhost.
  const locks = navigator.locks as typeof navigator.locks | undefined
  return locks ? new WebLocks(locks) : new HeartbeatLocks(localStorage, systemClock)
}
