/** The answers to a review: yes to all or to what is chosen, no, or what is to be changed. */

import { useEffect, useRef } from "react"
import type { SubmitEvent } from "react"

import type { Review, ReviewSubject } from "../core/types.gen.ts"
import { Button } from "../ui/Button.tsx"
import { TextArea } from "../ui/Field.tsx"
import { Icon } from "../ui/Icon.tsx"
import { personText } from "../ui/Person.tsx"
import { Time } from "../ui/Time.tsx"
import css from "./Review.module.css"

export type Asked = "accepted" | "declined" | "change_asked"

interface Props {
  readonly review: Review
  readonly me: string
  /** Why this person may not accept; null if they may. */
  readonly whyNot: string | null
  readonly mayComment: boolean
  /** Whether it is over: what was reviewed is decided. */
  readonly isOver: boolean
  readonly chosen: { readonly count: number; readonly of: number }
  /** The answer for which a word is asked. */
  readonly asked: Exclude<Asked, "accepted"> | null
  readonly isBusy: boolean
  readonly fault: string | null
  readonly onAsk: (asked: Exclude<Asked, "accepted"> | null) => void
  readonly onAnswer: (answer: Asked | "open", why: string) => void
}

const ANSWERS: Readonly<Record<Review["answer"], string>> = {
  open: "opened it again",
  accepted: "accepted it",
  declined: "declined it",
  change_asked: "asked for a change",
}

export function AnswerBar(props: Props) {
  const { review, me, whyNot, mayComment, isOver, chosen, asked, isBusy, fault, onAsk, onAnswer } = props
  const isAnswered = review.answer === "accepted" || review.answer === "declined"
  return (
    <section className={css["answers"]} aria-label="Answer">
      {review.answered_by !== null && (
        <p className={css["verdict"]} data-answer={review.answer} role="status">
          <Icon name={review.answer === "accepted" ? "check" : review.answer === "declined" ? "cross" : "comment"} size={14} />
          <span>
            {personText(review.answered_by, null, me)} {ANSWERS[review.answer]}
            {review.answered_at !== null && (
              <>
                , <Time at={review.answered_at} />
              </>
            )}
            {review.answered_why && <>: “{review.answered_why}”</>}
          </span>
        </p>
      )}
      {fault !== null && (
        <p className={css["problem"]} role="alert">
          {fault}
        </p>
      )}
      {asked !== null ? (
        <WhyForm asked={asked} isBusy={isBusy} onCancel={() => onAsk(null)} onSend={(why) => onAnswer(asked, why)} />
      ) : isAnswered || isOver ? (
        isAnswered && !isOver && mayComment && <Button onClick={() => onAnswer("open", "")}>Open again</Button>
      ) : (
        <div className={css["buttons"]}>
          <Button kind="primary" keys="Y" disabled={isBusy || whyNot !== null || chosen.count === 0} onClick={() => onAnswer("accepted", "")}>
            {acceptWords(review.subject, chosen)}
          </Button>
          <Button keys="M" disabled={isBusy || !mayComment} onClick={() => onAsk("change_asked")}>
            Ask for a change…
          </Button>
          <Button keys="N" disabled={isBusy || (review.subject.kind === "proposal" ? whyNot !== null : !mayComment)} onClick={() => onAsk("declined")}>
            Decline…
          </Button>
          {whyNot !== null && <span className={css["soft"]}>{whyNot}</span>}
        </div>
      )}
    </section>
  )
}

function acceptWords({ kind }: ReviewSubject, { count, of }: Props["chosen"]): string {
  if (kind === "run") return "Propose to the source"
  return count < of ? `Accept chosen (${count} of ${of})` : "Accept"
}

interface WhyFormProps {
  readonly asked: Exclude<Asked, "accepted">
  readonly isBusy: boolean
  readonly onCancel: () => void
  readonly onSend: (why: string) => void
}

function WhyForm({ asked, isBusy, onCancel, onSend }: WhyFormProps) {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => form.current?.querySelector("textarea")?.focus(), [])
  const isChange = asked === "change_asked"
  const send = (): void => {
    const why = new FormData(form.current ?? undefined).get("why")
    const text = typeof why === "string" ? why.trim() : ""
    if (text || !isChange) onSend(text)
  }
  return (
    <form
      ref={form}
      className={css["why"]}
      onSubmit={(event: SubmitEvent<HTMLFormElement>) => {
        event.preventDefault()
        send()
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") onCancel()
        else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send()
        else return
        event.preventDefault()
      }}
    >
      <TextArea
        name="why"
        rows={2}
        maxLength={20_000}
        required={isChange}
        label={isChange ? "What is to be changed?" : "Why not?"}
        help={isChange ? "Whoever proposed it is told; an agent reads it where it waits." : "It is kept with the review. May be empty."}
      />
      <div className={css["buttons"]}>
        <Button kind={isChange ? "primary" : "danger"} type="submit" keys="Mod-Enter" disabled={isBusy}>
          {isChange ? "Ask" : "Decline"}
        </Button>
        <Button kind="quiet" onClick={onCancel}>
          Not now
        </Button>
      </div>
    </form>
  )
}
