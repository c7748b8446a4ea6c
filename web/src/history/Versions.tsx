/** The texts that a cell had, the newest first: each with what it changed, and with a way back to it. */

import { useMemo, useState } from "react"

import { changeCount, lineDiff, shownDiff } from "../core/line_diff.ts"
import { difference } from "../core/text.ts"
import type { Cell } from "../core/types.gen.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Button } from "../ui/Button.tsx"
import { LineDiff } from "../ui/LineDiff.tsx"
import { PanelButtons, PanelNote, PanelSection } from "../ui/Panel.tsx"
import { nameOf, Person } from "../ui/Person.tsx"
import { Time } from "../ui/Time.tsx"
import css from "./History.module.css"
import type { Cause, Version } from "./versions.ts"

interface VersionsProps {
  readonly context: PageContext
  readonly cell: Cell
  readonly versions: readonly Version[]
}

export function Versions({ context, cell, versions }: VersionsProps) {
  const [shown, setShown] = useState<number | null>(null)
  const rows = versions.map((version, index) => ({ version, before: versions[index - 1]?.source ?? "" })).reverse()
  return (
    <PanelSection title={versions.length === 1 ? "1 version" : `${versions.length} versions`}>
      <ol className={css["versions"]}>
        {rows.map(({ version, before }) => (
          <Row
            key={version.seq}
            context={context}
            cell={cell}
            version={version}
            before={before}
            isShown={version.seq === shown}
            onToggle={() => setShown(version.seq === shown ? null : version.seq)}
          />
        ))}
      </ol>
    </PanelSection>
  )
}

interface RowProps {
  readonly context: PageContext
  readonly cell: Cell
  readonly version: Version
  readonly before: string
  readonly isShown: boolean
  readonly onToggle: () => void
}

function Row({ context, cell, version, before, isShown, onToggle }: RowProps) {
  const { added, removed } = useMemo(() => changeCount(lineDiff(before, version.source)), [before, version.source])
  const isNow = cell.source === version.source
  return (
    <li>
      <button type="button" className={css["version"]} aria-expanded={isShown} onClick={onToggle}>
        <span className={css["who"]}>
          <Person actor={version.by} onBehalfOf={version.onBehalfOf} me={context.open.me.actor} plain />
          {isNow && <span className={css["now"]}>now</span>}
        </span>
        <span className={css["counts"]} aria-label={`${added} lines added, ${removed} removed`}>
          <span data-kind="added">+{added}</span> <span data-kind="removed">−{removed}</span>
        </span>
        <span className={css["when"]}>
          <Time at={version.at} />
        </span>
      </button>
      {isShown && <Shown context={context} cell={cell} version={version} before={before} isNow={isNow} />}
    </li>
  )
}

interface ShownProps {
  readonly context: PageContext
  readonly cell: Cell
  readonly version: Version
  readonly before: string
  readonly isNow: boolean
}

function Shown({ context, cell, version, before, isNow }: ShownProps) {
  const [isAgainstNow, setAgainstNow] = useState(false)
  const [from, to] = isAgainstNow ? [cell.source, version.source] : [before, version.source]
  const lines = useMemo(() => shownDiff(from, to), [from, to])
  const cause = causeText(version.cause)
  return (
    <div className={css["shown"]}>
      {cause && <PanelNote>{cause}</PanelNote>}
      <LineDiff lines={lines} label={isAgainstNow ? "What restoring it would change" : "What this version changed"} />
      <PanelButtons>
        {!isNow && (
          <>
            <Button disabled={!context.mayEdit} onClick={() => restore(context, cell, version)}>
              Restore
            </Button>
            <Button kind="quiet" pressed={isAgainstNow} onClick={() => setAgainstNow(!isAgainstNow)}>
              Compare with now
            </Button>
          </>
        )}
        <a href={`?at=${version.seq}`}>Notebook then</a>
      </PanelButtons>
    </div>
  )
}

function causeText(cause: Cause): string | null {
  if (cause.kind === "file") return `Came from ${cause.path}.`
  if (cause.kind === "typed") return null
  const by = cause.by ? ` by ${nameOf(cause.by)}` : ""
  return `A proposal${by}${cause.why ? `: ${cause.why}` : "."}`
}

/** Write the old text as an edit of one's own: the newer versions stay in the log. */
function restore(context: PageContext, cell: Cell, version: Version): void {
  const edit = difference(context.live.store.cell(cell.id)?.source ?? "", version.source)
  context.changeCells("Restored an earlier version", [{ type: "source_edited", cell: cell.id, edit }])
}
