/** Vega and Vega-Lite. Data by address is asked for through the frame's policy, so most of it is not there. */

import embed from "vega-embed"
import type { EmbedOptions, VisualizationSpec } from "vega-embed"
import type { FrameTheme } from "../outputs/protocol.ts"

export async function drawVega(place: HTMLElement, spec: unknown, options: unknown, theme: FrameTheme): Promise<void> {
  const box = document.createElement("div")
  box.style.width = "100%"
  place.append(box)
  const asked = (typeof options === "object" && options !== null ? options : {}) as EmbedOptions
  const ours: EmbedOptions = {
    actions: false,
    // A chart of an older version is drawn all the same: only errors are worth saying.
    logLevel: 1,
    renderer: "svg",
    config: { background: "transparent" },
    ...(theme.isDark ? { theme: "dark" } : {}),
  }
  await embed(box, spec as VisualizationSpec, { ...ours, ...asked })
}
