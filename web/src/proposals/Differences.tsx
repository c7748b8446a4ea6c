/** Differences and sources of a proposal: all of them, with nothing hidden in them. */

import { useMemo } from "react"
import { lineDiff, withoutSame } from "../core/line_diff.ts"
import { visible } from "../core/visible.ts"
import { markWords } from "../core/word_diff.ts"
import { LineDiff } from "../ui/LineDiff.tsx"
import css from "./Proposals.module.css"

interface DifferenceProps {
  readonly before: string
  readonly after: string
  readonly label: string
  /** With all lines that stay; without, a few around each change. */
  readonly isWhole?: boolean
}

/** More lines that stay are left out even where all are wanted. */
const MOST_SAME = 400

export function Difference({ before, after, label, isWhole = false }: DifferenceProps) {
  const lines = useMemo(() => {
    const diff = lineDiff(visible(before), visible(after))
    return markWords(isWhole && diff.length <= MOST_SAME ? diff : withoutSame(diff))
  }, [before, after, isWhole])
  return <LineDiff lines={lines} label={label} />
}

/** Code that would run, in full, with the beginning of the hash that a yes is bound to. */
export function Code({ source, hash, label }: { readonly source: string; readonly hash: string; readonly label: string }) {
  return (
    <figure className={css["code"]}>
      <pre tabIndex={0} role="group" aria-label={label}>
        <code>{visible(source) || " "}</code>
      </pre>
      <figcaption>
        sha256 <code>{hash.slice(0, 12)}</code>
      </figcaption>
    </figure>
  )
}
