/** What a review's page shows once its log is open. */

import { useCallback, useEffect, useMemo, useState } from "react"

import { readContext } from "../cells/output_context.ts"
import { changesInWords, DiffRows } from "../cells/DiffRows.tsx"
import { whyNotAnswer } from "../core/proposals.ts"
import type { ReviewSubject } from "../core/types.gen.ts"
import { visible } from "../core/visible.ts"
import { useField } from "../hooks/values.ts"
import { answerReview, goToReview } from "../sync/api_reviews.ts"
import type { ReviewContent } from "../sync/api_reviews.ts"
import { Button } from "../ui/Button.tsx"
import { EmptyState } from "../ui/EmptyState.tsx"
import { Header } from "../ui/Header.tsx"
import { Kbd } from "../ui/Kbd.tsx"
import { useTitle } from "../ui/title.ts"
import { pressed } from "./actions.ts"
import type { ReviewActs } from "./actions.ts"
import { AnswerBar } from "./AnswerBar.tsx"
import type { Asked } from "./AnswerBar.tsx"
import type { ReviewComments, ReviewContext } from "./comments_part.ts"
import { BranchFiles, filesInWords, isOfBranch } from "./BranchFiles.tsx"
import { Effects } from "./Effects.tsx"
import { FilePlace } from "./FilePlace.tsx"
import { Checks, Results } from "./Outcome.tsx"
import { placesOf, selectionOf } from "./places.ts"
import css from "./Review.module.css"
import { useExtras } from "./row_extras.tsx"
import { useChecks, useFilePlaces } from "./use_beside.ts"
import { DECIDED, reviewPath, subjectPath, subjectWords, whyNotWords } from "./words.ts"

interface Props {
  readonly context: ReviewContext
  readonly content: ReviewContent | null
  readonly problem: string | null
  readonly comments: ReviewComments
  readonly nonce: string
}

const NOTHING: ReadonlySet<number> = new Set()

export function ReviewBody({ context, content, problem, comments, nonce }: Props) {
  const { live, open, log, parts } = context
  const review = useField(live, "review")
  const name = useField(live, "name")
  const threads = comments.threadsOf(useField(live, "comments"))
  const [left, setLeft] = useState(NOTHING)
  const [asked, setAsked] = useState<Exclude<Asked, "accepted"> | null>(null)
  const [fault, setFault] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  useTitle(name)
  const me = open.me.actor
  const mine = useMemo(() => new Map(Object.entries(review?.reviewed[me] ?? {})), [review, me])
  const mayComment = comments.mayComment(context)
  const proposal = content?.proposal ?? null
  const isProposalOpen = proposal === null || proposal.state === "open"
  const whyNot = proposal && isProposalOpen ? whyNotWords(whyNotAnswer(open.me, { by: proposal.by } as never)) : open.me.scopes.includes("approve") ? null : whyNotWords("no_right")
  const count = proposal ? proposal.changes.length + proposal.effects.length : 1
  const isOpen = review !== null && (review.answer === "open" || review.answer === "change_asked") && isProposalOpen
  const places = useMemo(() => placesOf(content?.rows ?? [], threads), [content, threads])

  const leave = useCallback((numbers: readonly number[], isChosen: boolean) => {
    setLeft((before) => new Set(isChosen ? [...before].filter((each) => !numbers.includes(each)) : [...before, ...numbers]))
  }, [])
  const answer = useCallback(
    (given: Asked | "open", why: string) => {
      setBusy(true)
      setFault(null)
      answerReview(parts.api, log, given, why, given === "accepted" && proposal ? selectionOf(count, left) : null).then(
        ({ proposed }) => {
          setBusy(false)
          setAsked(null)
          if (proposed) context.notify({ text: `Proposed to ${proposed.name}.`, action: { label: "Open it", do: () => location.assign(`/notebooks/${encodeURIComponent(proposed.log)}`) } })
        },
        (error: unknown) => {
          setBusy(false)
          setFault(error instanceof Error ? error.message : String(error))
        },
      )
    },
    [parts.api, log, proposal, count, left, context],
  )
  const found = useChecks(parts.api, log, content !== null && !content.is_partial, review?.answered_at)
  const beside = useFilePlaces(parts.api, log, review?.subject, content !== null && !content.is_partial)
  const extras = useExtras({ context, content, comments, places, mine, left, onLeave: leave, isSelectable: proposal !== null && proposal.changes.length > 1 && isOpen })
  const acts = useMemo<ReviewActs>(
    () => ({
      ...extras.acts,
      comment: (cell) => mayComment && comments.compose(context, cell === null ? "notebook" : `cell:${cell}`),
      answer: (given) => {
        if (!isOpen || isBusy) return
        if (given !== "accepted") setAsked(given)
        else if (whyNot === null) answer(given, "")
      },
      goToFile: (by) => {
        const other = by === 0 ? beside?.branch : (by < 0 ? beside?.before : beside?.next)?.log
        if (other) location.assign(reviewPath(other))
        return Boolean(other)
      },
    }),
    [extras.acts, mayComment, comments, context, isOpen, isBusy, whyNot, answer, beside],
  )
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (pressed(event, acts)) event.preventDefault()
    }
    document.addEventListener("keydown", press)
    return () => document.removeEventListener("keydown", press)
  }, [acts])
  const outputs = useMemo(() => {
    const of = readContext(parts, content?.outputs_log ?? log, nonce)
    return { old: of, new: of }
  }, [parts, content, log, nonce])

  if (review === null) {
    return (
      <>
        <Header />
        <main id="main" className={css["opening"]} tabIndex={-1} data-empty>
          <EmptyState title="This is no review" isPage actions={<a href={`/notebooks/${encodeURIComponent(log)}`}>Open the notebook</a>}>
            The address is that of a notebook.
          </EmptyState>
        </main>
      </>
    )
  }
  const path = subjectPath(review.subject)
  const changed = content?.rows.filter(({ state }) => state !== "same") ?? []
  const seen = content?.rows.filter((row, index) => row.state !== "same" && mine.get(row.cell) === content.versions[index]).length ?? 0
  const isBranch = isOfBranch(review.subject)
  const isSame = content !== null && !isBranch && changed.length === 0 && content.facts.length === 0
  return (
    <>
      <Header>{path ? <a href={path}>{content?.subject_name ?? "Notebook"}</a> : <span>{review.subject.kind === "revisions" ? review.subject.path || review.subject.head : ""}</span>}</Header>
      <main id="main" className={css["page"]} tabIndex={-1} data-review={log} aria-busy={content === null && problem === null}>
        <h1>{visible(name)}</h1>
        {content && (
          <p className={css["what"]}>
            {visible(subjectWords(content, me))}
            {proposal?.why && <>: “{visible(proposal.why)}”</>}
          </p>
        )}
        {beside && <FilePlace places={beside} />}
        {problem !== null && (
          <p className={css["problem"]} role="alert">
            {problem}
          </p>
        )}
        {content?.problem && (
          <p className={css["note"]} role="status">
            The notebook was changed since, and this no longer fits it: {visible(content.problem)}
          </p>
        )}
        {proposal && proposal.state !== "open" && <p className={css["note"]}>{DECIDED[proposal.state]} It is shown as it was when it was proposed.</p>}
        {content && (
          <p className={css["summary"]} role="status">
            <b>{content.files ? filesInWords(content.files) : changesInWords(content.rows)}</b>
            {changed.length > 0 && <span>{` · ${seen} of ${changed.length} looked at`}</span>}
            {changed.length > 0 && (
              <span className={css["hint"]}>
                <Kbd keys="J" /> next <Kbd keys="K" /> previous <Kbd keys="V" /> looked at <Kbd keys="?" /> all keys
              </span>
            )}
          </p>
        )}
        {content && <Results results={found?.results.length ? found.results : content.results} labels={content.labels} />}
        {content?.files && <BranchFiles files={content.files} onBegin={(path) => void goToReview(context, { ...review.subject, path } as ReviewSubject)} />}
        {content && !isBranch && <Checks checks={found?.checks ?? null} />}
        <section className={css["talk"]} aria-label="Comments on the review">
          {places.others.length > 0 && <h2>Comments on the review</h2>}
          <comments.Threads context={context} threads={places.others} target="notebook" label="Comment on the review" about={{ cell: null }} />
          {mayComment && (
            <Button kind="quiet" onClick={() => comments.compose(context, "notebook")}>
              Comment on the review
            </Button>
          )}
        </section>
        {isSame && <EmptyState title="Nothing differs">Both sides have the same cells and outputs.</EmptyState>}
        {content && !isBranch && <DiffRows compared={content} isPartial={content.is_partial} outputs={outputs} labels={{ old: content.labels[0], new: content.labels[1] }} extras={extras.rows} />}
        {proposal && proposal.effects.length > 0 && <Effects proposal={proposal} content={content} left={left} onLeave={leave} isSelectable={isOpen && count > 1} />}
        <AnswerBar
          review={review}
          me={me}
          whyNot={whyNot}
          mayComment={mayComment}
          isOver={!isProposalOpen}
          chosen={{ count: count - left.size, of: count }}
          asked={asked}
          isBusy={isBusy || content === null}
          fault={fault}
          onAsk={setAsked}
          onAnswer={answer}
        />
      </main>
    </>
  )
}
