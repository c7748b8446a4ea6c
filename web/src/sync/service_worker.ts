/**
 * What a browser runs beside the page: it keeps the app's page and files, so that a notebook that was opened once opens again
 * while the server is away. Built by itself, with the list of the app's files; nothing of the API passes through it.
 */

import { isPagePath } from "./page_paths.ts"

/** The app's files, filled in by the build. */
declare const APP_ASSETS: readonly string[]

interface LifeEvent {
  waitUntil(work: Promise<unknown>): void
}

interface FetchEvent extends LifeEvent {
  readonly request: Request
  respondWith(response: Promise<Response>): void
}

/** What is used of a worker's global scope: its types and those of a page cannot both be loaded. */
interface WorkerScope {
  readonly clients: { claim(): Promise<void> }
  skipWaiting(): Promise<void>
  addEventListener(name: "install" | "activate" | "message", listener: (event: LifeEvent) => void): void
  addEventListener(name: "fetch", listener: (event: FetchEvent) => void): void
}

const worker = globalThis as unknown as WorkerScope
const CACHE = "quire-app"
/** All addresses of the app are one page. */
const PAGE = "/"

worker.addEventListener("install", (event) => {
  event.waitUntil(Promise.all([worker.skipWaiting(), caches.open(CACHE).then((cache) => cache.add(PAGE))]))
})

worker.addEventListener("activate", (event) => {
  event.waitUntil(Promise.all([worker.clients.claim(), forgetOld()]))
})

// The page says so when it has nothing else to do.
worker.addEventListener("message", (event) => {
  event.waitUntil(keepAll())
})

worker.addEventListener("fetch", (event) => {
  const { request } = event
  const url = new URL(request.url)
  if (request.method !== "GET" || url.origin !== location.origin) return
  if (request.mode === "navigate" && isPagePath(url.pathname)) event.respondWith(page(event))
  else if (url.pathname.startsWith("/assets/")) event.respondWith(asset(request))
})

/** The page of the server; where that does not answer, or only what stands before it does, the one that is kept. */
async function page(event: FetchEvent): Promise<Response> {
  const cache = await caches.open(CACHE)
  let response: Response
  try {
    response = await fetch(event.request)
  } catch {
    response = Response.error()
  }
  if (response.ok) event.waitUntil(cache.put(PAGE, response.clone()))
  else if (response.type === "error" || response.status >= 502) return (await cache.match(PAGE, ANY)) ?? response
  return response
}

/** A file has a hash in its name and never changes. */
async function asset(request: Request): Promise<Response> {
  const cache = await caches.open(CACHE)
  const kept = await cache.match(request, ANY)
  if (kept) return kept
  const response = await fetch(request)
  if (response.ok) await cache.put(request, response.clone())
  return response
}

async function keepAll(): Promise<void> {
  const cache = await caches.open(CACHE)
  for (const path of APP_ASSETS) {
    if (!(await cache.match(path, ANY))) await cache.add(path).catch(() => undefined)
  }
}

async function forgetOld(): Promise<void> {
  const cache = await caches.open(CACHE)
  const now = new Set([PAGE, ...APP_ASSETS])
  const old = (await cache.keys()).filter(({ url }) => !now.has(new URL(url).pathname))
  await Promise.all(old.map((request) => cache.delete(request)))
}

/** In whatever encoding it came. */
const ANY = { ignoreVary: true }
