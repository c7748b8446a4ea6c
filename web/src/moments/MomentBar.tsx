/** The bar above a moment: which one it is, ways to others, and what can be done with it. */

import type { ActorId } from "../core/types.gen.ts"
import { Button, IconButton } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { personText } from "../ui/Person.tsx"
import css from "./Moments.module.css"
import { counted, momentTime } from "./moment_number.ts"
import type { ShownMoment } from "./use_moment.ts"

interface Props {
  readonly seq: number
  readonly head: number
  readonly moment: ShownMoment | null
  readonly me: ActorId
  readonly isReading: boolean
  /** Of the notebook as it is now. */
  readonly path: string
  readonly onGo: (seq: number) => void
  readonly onAct: (step: 1 | -1) => void
  /** Null where this person may not change it. */
  readonly onRestore: (() => void) | null
}

export function MomentBar({ seq, head, moment, me, isReading, path, onGo, onAct, onRestore }: Props) {
  const entry = moment?.entry?.seq === seq ? moment.entry : null
  return (
    <section className={css["bar"]} aria-label="Moment">
      <p className={css["what"]} role="status">
        <span>As it was at event {counted(seq)}</span>
        {entry && <> · {momentTime(entry.at)} · by {personText(entry.actor, entry.on_behalf_of, me)}</>}
        {entry && <span className={css["type"]}> · {entry.event.type.replaceAll("_", " ")}</span>}
      </p>
      <div className={css["travel"]}>
        <IconButton label="Previous act" keys="Shift-ArrowLeft" icon={<Icon name="chevron-left" />} disabled={seq <= 1} onClick={() => onAct(-1)} />
        <input
          type="range"
          className={css["slider"]}
          min={1}
          max={head}
          value={seq}
          aria-label="Event"
          aria-valuetext={`Event ${counted(seq)} of ${counted(head)}`}
          onChange={(event) => onGo(Number(event.target.value))}
        />
        <IconButton label="Next act" keys="Shift-ArrowRight" icon={<Icon name="chevron-right" />} disabled={seq >= head} onClick={() => onAct(1)} />
        <span className={css["of"]}>of {counted(head)}</span>
      </div>
      <div className={css["buttons"]}>
        <a className={css["button"]} href={path}>
          Now
        </a>
        <a className={css["button"]} href={`${path}/compare?from=${seq}`}>
          Compare with now
        </a>
        {onRestore && (
          <Button disabled={isReading} title="Change the cells back to what they were, as edits of your own" onClick={onRestore}>
            Restore all
          </Button>
        )}
      </div>
    </section>
  )
}
