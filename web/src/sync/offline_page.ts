/** Have the browser keep the app's page and files, for when the server is away (service_worker.ts). */

import type { Clock } from "./clock.ts"

/** The files that were not needed yet are fetched once the page has long been there. */
export const KEEP_MILLISECONDS = 10_000

/** Start the worker; a browser without one, or a page without https, goes without. */
export async function keepPage(workers: ServiceWorkerContainer | undefined, clock: Clock): Promise<void> {
  if (!workers) return
  try {
    await workers.register("/service_worker.js")
    const { active } = await workers.ready
    clock.after(KEEP_MILLISECONDS, () => active?.postMessage("keep"))
  } catch {
    // It is kept the next time.
  }
}
