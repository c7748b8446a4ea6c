import { expect, test } from "vitest"
import type { Display } from "../core/types.gen.ts"
import { savedWidget } from "./widget_state.ts"

const display: Display = { kind: "display", data: { "application/vnd.jupyter.widget-view+json": { model_id: "box" } } }
const state = {
  box: { model_name: "HBoxModel", state: { children: ["IPY_MODEL_slider", "IPY_MODEL_choice", "IPY_MODEL_box"] } },
  slider: { model_name: "IntSliderModel", state: { description: "n", value: 5, min: 0, max: 10 } },
  choice: { model_name: "DropdownModel", state: { _options_labels: ["a", "b"], index: 1 } },
}
const widgets = { "application/vnd.jupyter.widget-state+json": { state } }

test("a widget is read with those inside it, and none is endless", () => {
  const found = savedWidget(display, widgets)
  expect(found?.kind).toBe("HBox")
  expect(found?.children.slice(0, 2)).toEqual([
    { kind: "IntSlider", label: "n", value: "5", part: 0.5, children: [] },
    { kind: "Dropdown", label: "", value: "b", part: null, children: [] },
  ])
})

test("without a saved state there is nothing to read", () => {
  expect(savedWidget(display, null)).toBeNull()
  expect(savedWidget(display, { other: 1 })).toBeNull()
})
