/**
 * A review: the cells that changed, side by side, with their outputs; what is said about them; and the answer.
 *
 * The rows are the server's, by the diff that `quire diff` shows. Comments, answers and who has looked at what are in the
 * review's own log, which the page follows as a notebook's page does.
 */

import { useEffect, useMemo, useState } from "react"

import type { LogId } from "../core/types.gen.ts"
import { useValue } from "../hooks/values.ts"
import { ServerClock } from "../sync/clock.ts"
import { Fault } from "../sync/fault.ts"
import { openNotebook } from "../sync/open.ts"
import type { OpenNotebook, OpenParts } from "../sync/open.ts"
import { Value } from "../sync/store.ts"
import { Bar } from "../ui/Bar.tsx"
import { Button } from "../ui/Button.tsx"
import { EmptyState } from "../ui/EmptyState.tsx"
import { Header } from "../ui/Header.tsx"
import { useToasts } from "../ui/Toasts.tsx"
import type { ReviewComments, ReviewContext } from "./comments_part.ts"
import { ReviewBody } from "./ReviewBody.tsx"
import css from "./Review.module.css"
import { readAhead, useContent } from "./use_content.ts"

interface Props {
  readonly log: LogId
  readonly parts: OpenParts
  readonly nonce: string
  readonly comments: ReviewComments
}

type Opening = OpenNotebook | { readonly error: unknown } | null

export default function ReviewPage(props: Props) {
  const { log, parts } = props
  const [attempt, setAttempt] = useState(0)
  const opening = useOpening(log, parts, attempt)
  if (opening === null) return <div className={css["opening"]} aria-busy="true" />
  if ("error" in opening) return <Failed error={opening.error} onRetry={() => setAttempt(attempt + 1)} />
  return <Opened {...props} open={opening} />
}

function useOpening(log: LogId, parts: OpenParts, attempt: number): Opening {
  const [opening, setOpening] = useState<Opening>(null)
  useEffect(() => {
    let isGone = false
    let opened: OpenNotebook | null = null
    readAhead(parts.api, log)
    openNotebook(log, parts).then(
      (found) => {
        opened = found
        if (isGone) found.close()
        else setOpening(found)
      },
      (error: unknown) => isGone || setOpening({ error }),
    )
    return () => {
      isGone = true
      opened?.close()
      setOpening(null)
    }
  }, [log, parts, attempt])
  return opening
}

function Failed({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  const isAbsent = error instanceof Fault && (error.kind === "NotFound" || error.kind === "BadInput")
  return (
    <>
      <Header />
      <main id="main" className={css["opening"]} tabIndex={-1} data-empty>
        <EmptyState title={isAbsent ? "There is no such review" : "This review cannot be opened"} isPage actions={isAbsent ? <a href="/">All notebooks</a> : <Button onClick={onRetry}>Try again</Button>}>
          {isAbsent ? "It may be of another workspace, or the address is not whole." : error instanceof Error ? error.message : String(error)}
        </EmptyState>
      </main>
    </>
  )
}

function Opened({ log, parts, nonce, comments, open }: Props & { readonly open: OpenNotebook }) {
  const notify = useToasts()
  const state = useValue(open.state)
  const review = open.live.store.get().review
  const { content, problem } = useContent(parts.api, log, useAnswerNumber(open))
  const involved = useMemo(() => {
    const proposal = content?.proposal
    return [proposal?.by, proposal?.on_behalf_of, review?.by].filter((actor) => actor !== null && actor !== undefined)
  }, [content, review])
  const context = useMemo<ReviewContext>(
    () => ({ live: open.live, open, log, parts, clock: new ServerClock(parts.clock), notify, presence: { others: new Value([]) }, involved }),
    [open, log, parts, notify, involved],
  )
  return (
    <>
      {state.kind === "outdated" && <Bar kind="error">This page is older than the server. Load it again.</Bar>}
      {state.kind === "failed" && <Bar kind="error">{state.fault.message}</Bar>}
      <ReviewBody context={context} content={content} problem={problem} comments={comments} nonce={nonce} />
    </>
  )
}

/** Another value whenever the review was answered: what was reviewed may have changed with it. */
function useAnswerNumber(open: OpenNotebook): string {
  const { live } = open
  const readable = useMemo(
    () => ({
      subscribe: (listener: () => void) => live.store.subscribe("review", listener),
      get: () => live.store.field("review")?.answered_at ?? "",
    }),
    [live],
  )
  return useValue(readable)
}
