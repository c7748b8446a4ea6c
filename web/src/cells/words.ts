/** What pages say about cells and their executions. Pure. */

import type { Cell, CellKind, Execution, Notebook } from "../core/types.gen.ts"

export const KIND_WORDS: Record<CellKind, string> = { code: "Code", markdown: "Markdown", raw: "Raw", sql: "SQL", prompt: "Prompt" }

/** The language of a notebook's code, in small letters. */
export function languageOf(metadata: Notebook["metadata"]): string {
  const info = metadata["language_info"] as { readonly name?: unknown } | undefined
  const spec = metadata["kernelspec"] as { readonly language?: unknown } | undefined
  const name = info?.name ?? spec?.language
  return typeof name === "string" ? name.toLowerCase() : "python"
}

/** The language in which the source of a cell is coloured. */
export function cellLanguage({ kind }: Pick<Cell, "kind">, language: string): string {
  return kind === "code" ? language : kind
}

/** How long an execution took, in seconds; null for one that has not ended, or that did not run here. */
export function took(execution: Execution | null): number | null {
  if (!execution?.started_at || !execution.finished_at) return null
  return Math.max(0, Date.parse(execution.finished_at) - Date.parse(execution.started_at)) / 1000
}
