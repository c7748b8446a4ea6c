/**
 * Fold logs, for tests that compare with Python: one log as a JSON array of entries on each line of stdin, what it comes
 * to on each line of stdout, with the ids of its stale cells.
 */

import { readFileSync } from "node:fs"

import { writeNotebook } from "../src/core/notebook.ts"
import { fold } from "../src/core/reduce.ts"
import { staleCells } from "../src/core/staleness.ts"
import type { Entry } from "../src/core/types.gen.ts"

const lines = readFileSync(0, "utf-8").split("\n").filter(Boolean)
const folded = lines.map((line) => {
  const notebook = fold(JSON.parse(line) as Entry[])
  return JSON.stringify({ notebook: writeNotebook(notebook), stale: [...staleCells(notebook)].sort() })
})
process.stdout.write(folded.map((line) => `${line}\n`).join(""))
