/** Plotly's figures. */

import Plotly from "plotly.js-dist-min"

type Figure = Parameters<typeof Plotly.newPlot>[1]

export async function drawPlotly(place: HTMLElement, json: unknown): Promise<void> {
  const box = document.createElement("div")
  place.append(box)
  const { data, layout, config, frames } = (typeof json === "object" && json !== null ? json : {}) as Record<string, object | undefined>
  const figure: unknown = { data, layout, frames, config: { responsive: true, displaylogo: false, ...config } }
  await Plotly.newPlot(box, figure as Figure)
}
