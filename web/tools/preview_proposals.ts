/**
 * Foresee what accepting proposals comes to, for tests that compare with Python: on each line of stdin a log, a proposal
 * and a selection, on each line of stdout whether it can be and the cells as they would be.
 */

import { readFileSync } from "node:fs"

import { earlierEdits, previewProposal } from "../src/core/proposal_preview.ts"
import { fold } from "../src/core/reduce.ts"
import type { Entry, ProposalId } from "../src/core/types.gen.ts"

interface Case {
  readonly log: readonly Entry[]
  readonly proposal: ProposalId
  readonly selection: readonly number[] | null
}

function foreseen({ log, proposal: id, selection }: Case): object {
  const notebook = fold(log)
  const proposal = notebook.proposals.get(id)
  if (!proposal) throw new Error(`There is no proposal ${id}.`)
  const { isPossible, after } = previewProposal(notebook, proposal, selection, (cell, base) => earlierEdits(log, cell, base))
  const cells = Object.fromEntries(
    [...after.cells].map(([cell, { source, kind, name, tags, removed, scratch, queued }]) => [cell, { source, kind, name, tags, removed, scratch, queued: queued?.id ?? null }]),
  )
  return { isPossible, cells, order: after.order }
}

const lines = readFileSync(0, "utf-8").split("\n").filter(Boolean)
process.stdout.write(lines.map((line) => `${JSON.stringify(foreseen(JSON.parse(line) as Case))}\n`).join(""))
