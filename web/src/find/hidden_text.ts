/** Text of outputs that the notebook, as it was opened, has not: the server cut it, or keeps it in a blob. Pure. */

import { cutSize } from "../core/cut_outputs.ts"
import type { BlobRef, Cell, CellId, ExecutionId, Output } from "../core/types.gen.ts"

interface Hidden {
  readonly cell: CellId
  /** In bytes. Of an execution, that of what was cut. */
  readonly size: number
  /** Names it: the same again is the same text. */
  readonly key: string
}

/** An execution of which outputs were cut. */
export interface CutExecution extends Hidden {
  readonly kind: "execution"
  readonly execution: ExecutionId
}

/** A text whose middle or end is in a blob only. */
export interface BlobText extends Hidden {
  readonly kind: "blob"
  readonly output: number
  readonly hash: string
}

export type HiddenText = CutExecution | BlobText

/** What is hidden of the outputs of a cell. Of an execution that was cut, what is in blobs is known once it is here. */
export function hiddenTexts(cell: Cell, outputs: readonly Output[]): HiddenText[] {
  const { execution } = cell
  if (!execution) return []
  const cut = outputs.reduce((sum, output) => sum + cutSize(output), 0)
  if (cut) return [{ kind: "execution", cell: cell.id, size: cut, execution: execution.id, key: executionKey(cell) }]
  return outputs.flatMap((output, index) => {
    const blob = textBlob(output)
    return blob ? [{ kind: "blob", cell: cell.id, output: index, hash: blob.hash, size: blob.size, key: blob.hash }] : []
  })
}

/** An execution at one moment: a display of it may be updated later. */
export function executionKey({ execution }: Cell): string {
  return execution ? `${execution.id}@${execution.chunk}` : ""
}

/** The blob that has the text of an output which is searched (`outputText`); null where the notebook has all of it. */
export function textBlob(output: Output): BlobRef | null {
  if (output.kind === "stream") return output.omitted ? (output.blob ?? null) : null
  if (output.kind === "error") return null
  const { data = {}, blobs = {} } = output
  for (const media of ["text/plain", "text/markdown"]) {
    if (blobs[media]) return blobs[media]
    if (media in data) return null
  }
  return null
}
