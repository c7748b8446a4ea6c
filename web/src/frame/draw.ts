/** Draw one output. Libraries are loaded from beside this file when they are first needed. */

import type { Content, FrameTheme } from "../outputs/protocol.ts"
import { insertHtml } from "./html.ts"

export async function draw(place: HTMLElement, content: Content, theme: FrameTheme): Promise<void> {
  switch (content.kind) {
    case "html":
      await insertHtml(place, content.html)
      return
    case "svg":
      await insertHtml(place, content.svg)
      return
    case "javascript":
      runCode(place, content.code)
      return
    case "vega":
      await (await import("./vega.ts")).drawVega(place, content.spec, content.options, theme)
      return
    case "plotly":
      await (await import("./plotly.ts")).drawPlotly(place, content.figure)
      return
    case "sound":
      drawSound(place, content.media, content.blob)
      return
  }
}

/** As notebooks do: the script finds the place of its output as `element`. */
function runCode(place: HTMLElement, code: string): void {
  const element = document.createElement("div")
  place.append(element)
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- running it is what a frame is for
  const run = new Function("element", code) as (element: HTMLElement) => void
  run(element)
}

function drawSound(place: HTMLElement, media: string, blob: Blob): void {
  const player = document.createElement(media.startsWith("video/") ? "video" : "audio")
  player.controls = true
  player.src = URL.createObjectURL(new Blob([blob], { type: media }))
  place.append(player)
}
