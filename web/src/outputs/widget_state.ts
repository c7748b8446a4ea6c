/** The last saved state of a widget, as words: what it was, and which value it had. */

import type { Display, Json, JsonObject } from "../core/types.gen.ts"
import { objectAt, textOf, WIDGET } from "./media.ts"

const STATES = "application/vnd.jupyter.widget-state+json"
const DEEPEST = 5

export interface SavedWidget {
  /** `IntSlider`. */
  readonly kind: string
  readonly label: string
  /** What it showed: a number, a text, a choice. */
  readonly value: string
  /** From 0 to 1, of what goes from one number to another. */
  readonly part: number | null
  readonly children: readonly SavedWidget[]
}

/** What a display's widget was, by the notebook's metadata; null where nothing was saved. */
export function savedWidget(display: Display, widgets: JsonObject | null | undefined): SavedWidget | null {
  const model = objectAt(display.data?.[WIDGET])["model_id"]
  const saved = objectAt(objectAt(widgets?.[STATES])["state"])
  return typeof model === "string" ? readWidget(saved, model, 0) : null
}

function readWidget(saved: JsonObject, model: string, depth: number): SavedWidget | null {
  const entry = objectAt(saved[model])
  const state = objectAt(entry["state"])
  const name = entry["model_name"] ?? state["_model_name"]
  if (typeof name !== "string" || depth > DEEPEST) return null
  const children = Array.isArray(state["children"]) ? state["children"] : []
  return {
    kind: name.replace(/Model$/, ""),
    label: textOf(state["description"]),
    value: valueOf(state),
    part: partOf(state),
    children: children.flatMap((child: Json) => (typeof child === "string" ? (readWidget(saved, child.replace(/^IPY_MODEL_/, ""), depth + 1) ?? []) : [])),
  }
}

function valueOf(state: JsonObject): string {
  const options = state["_options_labels"]
  const index = state["index"]
  if (Array.isArray(options) && typeof index === "number") return textOf((options as readonly Json[])[index])
  const value = state["value"]
  if (value === undefined || value === null) return ""
  return Array.isArray(value) ? (value as readonly Json[]).map(textOf).join(" to ") : textOf(value)
}

function partOf(state: JsonObject): number | null {
  const { min, max, value } = state as { min?: Json; max?: Json; value?: Json }
  if (typeof value !== "number" || typeof max !== "number") return null
  const least = typeof min === "number" ? min : 0
  return max > least ? Math.min(Math.max((value - least) / (max - least), 0), 1) : null
}
