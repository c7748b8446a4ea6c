/** The states of widgets as they were last saved: in a notebook's metadata, or kept with a run. */

import type { JsonObject, Notebook } from "../core/types.gen.ts"
import type { Api } from "./api.ts"

export async function widgetStates(api: Pick<Api, "blob">, notebook: Notebook): Promise<JsonObject | null> {
  const kept = notebook.run?.widgets
  const found: unknown = kept ? JSON.parse(await (await api.blob(kept.hash)).text()) : notebook.metadata["widgets"]
  return typeof found === "object" && found !== null && !Array.isArray(found) ? (found as JsonObject) : null
}
