/** A line about outputs that are not in the notebook as it was opened: how far the search in them is, and what is left out. */

import { useValue } from "../hooks/values.ts"
import { byteSize } from "../outputs/media.ts"
import { Button } from "../ui/Button.tsx"
import css from "./Find.module.css"
import type { OutputReader, ReaderStatus } from "./output_reader.ts"

export function OutputsStatus({ reader }: { readonly reader: OutputReader }) {
  const status = useValue(reader.status)
  const { isBusy, left, failed, fault } = status
  const readAll = (): void => void reader.readAll()
  return (
    <div aria-live="polite">
      {isBusy && <Line text={progressText(status)} label="Stop" onClick={() => reader.stop()} />}
      {left.count > 0 && <Line text={`${outputs(left.count)}, ${byteSize(left.size)}, not searched.`} label={left.count === 1 ? "Search it" : "Search them"} onClick={readAll} />}
      {!isBusy && fault !== null && <Line text={`${outputs(failed)} could not be searched: ${fault}`} label="Try again" onClick={readAll} isFault />}
    </div>
  )
}

function progressText({ done, total }: ReaderStatus): string {
  return total < 1_000_000 ? "Searching long outputs…" : `Searching long outputs: ${megabytes(done)} of ${megabytes(total)} MB`
}

function megabytes(bytes: number): string {
  return Math.round(bytes / 1_000_000).toLocaleString("en")
}

function outputs(count: number): string {
  return count === 1 ? "1 long output" : `${count.toLocaleString("en")} long outputs`
}

interface LineProps {
  readonly text: string
  readonly label: string
  readonly onClick: () => void
  readonly isFault?: boolean
}

function Line({ text, label, onClick, isFault = false }: LineProps) {
  return (
    <p className={css["outputs"]}>
      <span className={isFault ? css["fault"] : css["count"]}>{text}</span>
      <Button kind="quiet" onClick={onClick}>
        {label}
      </Button>
    </p>
  )
}
