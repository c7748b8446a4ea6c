/** Render Markdown, for tests that compare with Python: a text as JSON on each line of stdin, its HTML on each line of stdout. */

import { readFileSync } from "node:fs"

import { renderMarkdown } from "../src/outputs/markdown.ts"

const lines = readFileSync(0, "utf-8").split("\n").filter(Boolean)
const rendered = lines.map((line) => {
  const { source, attachments } = JSON.parse(line) as { readonly source: string; readonly attachments: Readonly<Record<string, never>> }
  return JSON.stringify(renderMarkdown(source, attachments))
})
process.stdout.write(rendered.map((line) => `${line}\n`).join(""))
