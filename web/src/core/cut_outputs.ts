/** Outputs that the server left out of a notebook, because there is a limit on how much it sends at once. */

import type { Output } from "./types.gen.ts"

/** The key of a display's metadata under which the server says how many bytes it left out. */
export const CUT = "quire_cut"

/** How many bytes were left out where this output stands; 0: it is all there. `Api.execution` has all of it. */
export function cutSize(output: Output): number {
  if (output.kind !== "display") return 0
  const size = output.metadata?.[CUT]
  return typeof size === "number" ? size : 0
}
