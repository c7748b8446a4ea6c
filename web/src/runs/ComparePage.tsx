/** Two runs side by side: parameters, results with how far they are apart, environment, timing, and cells with what they showed. */

import { useEffect, useMemo, useState } from "react"
import { useSearch } from "wouter"

import { changesInWords, DiffRows } from "../cells/DiffRows.tsx"
import { readContext } from "../cells/output_context.ts"
import type { LogId } from "../core/types.gen.ts"
import { useValue } from "../hooks/values.ts"
import { compareMoments } from "../sync/api_diff.ts"
import type { MomentsCompared } from "../sync/api_diff.ts"
import { compareRuns, runRecord } from "../sync/api_runs.ts"
import type { RunComparison, RunRecord } from "../sync/api_runs.ts"
import { Fault } from "../sync/fault.ts"
import type { OpenParts } from "../sync/open.ts"
import { EmptyState } from "../ui/EmptyState.tsx"
import { Header } from "../ui/Header.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Person } from "../ui/Person.tsx"
import { StateMark, stateWord } from "../ui/StateMark.tsx"
import { Time } from "../ui/Time.tsx"
import { useTitle } from "../ui/title.ts"
import { PairsTable, TimingTable } from "./CompareTables.tsx"
import css from "./Compare.module.css"

interface Compared {
  readonly facts: RunComparison
  readonly cells: MomentsCompared
  readonly a: RunRecord
  readonly b: RunRecord
}

export default function ComparePage({ parts, nonce }: { readonly parts: OpenParts; readonly nonce: string }) {
  const search = new URLSearchParams(useSearch())
  const [a, b] = [search.get("a"), search.get("b")]
  const { compared, fault } = useCompared(parts, a, b)
  const me = useValue(parts.socket.welcome)?.me.actor
  useTitle("Two runs")
  return (
    <>
      <Header>
        <a href="/runs">Runs</a>
        <span aria-hidden="true"> / </span>Compare
      </Header>
      <main id="main" className={css["main"]} tabIndex={-1}>
        {fault !== null ? (
          <EmptyState isPage title="These cannot be compared">
            <p>{fault}</p>
            <p>
              <a href="/runs">Choose two runs in the table</a>
            </p>
          </EmptyState>
        ) : (
          compared && <Sides compared={compared} parts={parts} nonce={nonce} me={me} />
        )}
      </main>
    </>
  )
}

function useCompared({ api }: OpenParts, a: LogId | null, b: LogId | null): { readonly compared: Compared | null; readonly fault: string | null } {
  const [state, setState] = useState<{ readonly compared: Compared | null; readonly fault: string | null }>({ compared: null, fault: null })
  useEffect(() => {
    if (!a || !b) return
    let isGone = false
    const read = async (): Promise<Compared> => {
      const [facts, one, other] = await Promise.all([compareRuns(api, a, b), runRecord(api, a), runRecord(api, b)])
      // As the runs left their notebooks: what was done in them since is no part of the runs.
      const cells = await compareMoments(api, { log: a, seq: facts.a_seq }, { log: b, seq: facts.b_seq })
      return { facts, cells, a: one, b: other }
    }
    read().then(
      (compared) => void (isGone || setState({ compared, fault: null })),
      (error: unknown) => void (isGone || setState({ compared: null, fault: error instanceof Fault ? error.message : String(error) })),
    )
    return () => void (isGone = true)
  }, [api, a, b])
  if (!a || !b) return { compared: null, fault: "The address names no two runs." }
  return state
}

function Sides({ compared, parts, nonce, me }: { readonly compared: Compared; readonly parts: OpenParts; readonly nonce: string; readonly me: string | undefined }) {
  const { facts, cells } = compared
  const outputs = useMemo(
    () => ({ old: readContext(parts, facts.a, nonce), new: readContext(parts, facts.b, nonce) }),
    [parts, facts.a, facts.b, nonce],
  )
  const swapped = `/runs/compare?a=${encodeURIComponent(facts.b)}&b=${encodeURIComponent(facts.a)}`
  return (
    <>
      <div className={css["top"]}>
        <h1>Two runs</h1>
        <p role="status">{facts.same ? "Same parameters, code and results." : summary(facts)}</p>
        <a className={css["swap"]} href={swapped}>
          <Icon name="replace" /> Swap a and b
        </a>
      </div>
      <div className={css["sides"]}>
        <Side letter="a" log={facts.a} record={compared.a} status={facts.status.a} me={me} />
        <Side letter="b" log={facts.b} record={compared.b} status={facts.status.b} me={me} />
      </div>
      <PairsTable title="Parameters" pairs={facts.parameters} />
      <PairsTable title="Results" pairs={facts.results} isMeasured />
      <TimingTable facts={facts} />
      <PairsTable title="Environment" pairs={facts.environment} />
      {facts.packages && Object.keys(facts.packages).length > 0 && <PairsTable title="Packages" pairs={facts.packages} />}
      {Object.keys(facts.inputs).length > 0 && <PairsTable title="Input files" pairs={facts.inputs} />}
      <section className={css["part"]} aria-labelledby="cells">
        <h2 id="cells">
          Cells <span>{changesInWords(cells.rows)}</span>
        </h2>
        <DiffRows compared={cells} outputs={outputs} labels={{ old: "of a", new: "of b" }} />
      </section>
    </>
  )
}

function Side(props: { readonly letter: string; readonly log: LogId; readonly record: RunRecord; readonly status: unknown; readonly me: string | undefined }) {
  const { letter, log, record, me } = props
  const status = String(props.status)
  const state = status === "success" ? "ok" : status
  return (
    <section className={css["side"]} aria-label={`Run ${letter}`}>
      <b aria-hidden="true">{letter}</b>
      <a href={`/runs/${encodeURIComponent(log)}`}>{record.name}</a>
      <span className={css["status"]}>
        <StateMark state={state} text="" /> {status === "success" ? "succeeded" : stateWord(state)}
      </span>
      <span className={css["who"]}>
        <Person actor={record.by} onBehalfOf={record.on_behalf_of} me={me} /> · <Time at={record.requested_at} />
      </span>
    </section>
  )
}

/** "2 parameters and 1 result differ; the code is the same." */
function summary({ parameters, results, sources }: RunComparison): string {
  const count = (pairs: RunComparison["parameters"]): number => Object.values(pairs).filter(({ same }) => !same).length
  const said = [
    [count(parameters), "parameter"],
    [count(results), "result"],
  ] as const
  const named = said.filter(([number]) => number > 0).map(([number, word]) => `${number} ${word}${number === 1 ? "" : "s"}`)
  const differ = named.length ? `${named.join(" and ")} ${named.length === 1 && said.some(([number]) => number === 1) ? "differs" : "differ"}` : "Parameters and results are the same"
  return `${differ}; the code ${sources > 0 ? "differs too" : "is the same"}.`
}
