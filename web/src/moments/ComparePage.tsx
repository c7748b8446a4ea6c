/** Two moments of a notebook side by side: which they are, and each cell that differs. */

import { useEffect, useMemo, useState } from "react"
import type { ReactNode, SubmitEvent } from "react"
import { useLocation, useSearch } from "wouter"

import { changesInWords, DiffRows } from "../cells/DiffRows.tsx"
import { readContext } from "../cells/output_context.ts"
import type { LogId } from "../core/types.gen.ts"
import { useValue } from "../hooks/values.ts"
import { compareMoments } from "../sync/api_diff.ts"
import type { Moment, MomentsCompared } from "../sync/api_diff.ts"
import type { OpenParts } from "../sync/open.ts"
import { Button } from "../ui/Button.tsx"
import { EmptyState } from "../ui/EmptyState.tsx"
import { Header } from "../ui/Header.tsx"
import { Kbd } from "../ui/Kbd.tsx"
import { personText } from "../ui/Person.tsx"
import { useTitle } from "../ui/title.ts"
import { counted, momentTime } from "./moment_number.ts"
import css from "./Moments.module.css"

interface Props {
  readonly log: LogId
  readonly parts: OpenParts
  readonly nonce: string
}

/** The number that an address gives, if it is one; without it, now. */
function numberOf(text: string | null): number | undefined | "wrong" {
  if (text === null || text === "") return undefined
  return /^[0-9]{1,15}$/.test(text) ? Number(text) : "wrong"
}

export default function ComparePage({ log, parts, nonce }: Props) {
  const [path, go] = useLocation()
  const search = new URLSearchParams(useSearch())
  const [from, to] = [numberOf(search.get("from")), numberOf(search.get("to"))]
  const { compared, problem } = useCompared(parts, log, from, to)
  const outputs = useMemo(() => ({ old: readContext(parts, log, nonce), new: readContext(parts, log, nonce) }), [parts, log, nonce])
  const me = useValue(parts.socket.welcome)?.me.actor
  const notebook = path.slice(0, path.lastIndexOf("/compare"))
  useTitle(compared ? `Compare ${compared.a.name}` : "Compare")
  const choose = (chosen: { readonly from?: string; readonly to?: string }): void => {
    const query = { from: search.get("from") ?? "", to: search.get("to") ?? "", ...chosen }
    const given = Object.entries(query).filter(([, value]) => value !== "")
    go(`${path}?${new URLSearchParams(given).toString()}`, { replace: true })
  }
  return (
    <>
      <Header>
        <a href={notebook}>{compared?.b.name ?? "Notebook"}</a>
      </Header>
      <main id="main" className={css["compare"]} tabIndex={-1}>
        <h1 className="visually-hidden">Compare two moments</h1>
        <div className={css["sides"]}>
          <Side label="From event" value={search.get("from") ?? ""} moment={compared?.a} me={me} path={notebook} onChoose={(value) => choose({ from: value })} />
          <Side label="To event" value={search.get("to") ?? ""} moment={compared?.b} me={me} path={notebook} onChoose={(value) => choose({ to: value })} />
        </div>
        {problem !== null && (
          <p className={css["problem"]} role="alert">
            {problem}
          </p>
        )}
        {compared && problem === null && (
          <Compared compared={compared}>
            <DiffRows compared={compared} outputs={outputs} labels={{ old: labelOf(compared.a, from), new: labelOf(compared.b, to) }} />
          </Compared>
        )}
      </main>
    </>
  )
}

function labelOf({ seq }: Moment, asked: number | undefined | "wrong"): string {
  return asked === undefined ? "now" : `at event ${counted(seq)}`
}

function Compared({ compared, children }: { readonly compared: MomentsCompared; readonly children: ReactNode }) {
  const isSame = compared.rows.every(({ state }) => state === "same") && compared.facts.length === 0
  return (
    <div data-compared={`${compared.a.seq} ${compared.b.seq}`}>
      <p className={css["summary"]} role="status">
        <b>{changesInWords(compared.rows)}</b>
        {!isSame && (
          <span className={css["hint"]}>
            <Kbd keys="J" /> next change <Kbd keys="K" /> previous
          </span>
        )}
      </p>
      {isSame && <EmptyState title="Both moments have the same cells and outputs">Choose another event above.</EmptyState>}
      {children}
    </div>
  )
}

interface SideProps {
  readonly label: string
  /** As it stands in the address; empty: now. */
  readonly value: string
  readonly moment: Moment | undefined
  readonly me: string | undefined
  readonly path: string
  readonly onChoose: (value: string) => void
}

function Side({ label, value, moment, me, path, onChoose }: SideProps) {
  const choose = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const typed = new FormData(event.currentTarget).get("event")
    onChoose(typeof typed === "string" ? typed.trim() : "")
  }
  return (
    <form key={value} className={css["side"]} onSubmit={choose} aria-label={label}>
      <label>
        {label}
        <input
          name="event"
          type="number"
          min={1}
          defaultValue={value}
          placeholder="now"
          onBlur={(event) => event.target.value !== value && event.target.form?.requestSubmit()}
        />
      </label>
      {moment && (
        <p>
          {momentTime(moment.at)} · by {personText(moment.actor, moment.on_behalf_of, me)} ·{" "}
          <a href={`${path}?at=${moment.seq}`}>Open event {counted(moment.seq)}</a>
        </p>
      )}
      <span className="visually-hidden">
        <Button type="submit">Compare</Button>
      </span>
    </form>
  )
}

function useCompared({ api }: OpenParts, log: LogId, from: number | undefined | "wrong", to: number | undefined | "wrong") {
  const [compared, setCompared] = useState<MomentsCompared | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const isWrong = from === "wrong" || to === "wrong"
  useEffect(() => {
    if (isWrong) return undefined
    let isGone = false
    compareMoments(api, { log, seq: from }, { log, seq: to }).then(
      (found) => {
        if (isGone) return
        setCompared(found)
        setProblem(null)
      },
      (error: unknown) => isGone || setProblem(error instanceof Error ? error.message : String(error)),
    )
    return () => {
      isGone = true
    }
  }, [api, log, from, to, isWrong])
  return { compared, problem: isWrong ? "What stands after from= and to= is the number of an event: ?from=12&to=34. Leave one out for now." : problem }
}
