/** Where the searched text is: in the code and outputs of notebooks, and in runs, told apart and folded by each. */

import { useMemo, useState } from "react"

import type { Hit } from "../sync/api_types.ts"
import { Button } from "../ui/Button.tsx"
import { classes } from "../ui/classes.ts"
import { Icon } from "../ui/Icon.tsx"
import rows from "../ui/Rows.module.css"
import { StateMark, stateWord } from "../ui/StateMark.tsx"
import { Time } from "../ui/Time.tsx"
import css from "./Home.module.css"
import { count } from "./overview.ts"
import { groupHits, markWords } from "./search_groups.ts"
import type { HitGroup } from "./search_groups.ts"
import type { SearchState } from "./use_search.ts"

/** So many are shown at first: places in a notebook, in a run, and runs. */
const PLACES = 4
const PLACES_IN_RUN = 2
const RUNS = 5
/** The server finds no more. */
const MOST_HITS = 100

export function SearchHits({ search }: { readonly search: SearchState }) {
  const { text, hits, isSearching } = search
  const { notebooks, runs } = useMemo(() => groupHits(hits), [hits])
  return (
    <>
      <p className="visually-hidden" role="status">
        {isSearching ? "Searching" : `Found in ${count(notebooks.length, "notebook")} and ${count(runs.length, "run")}`}
      </p>
      <section aria-labelledby="hits" aria-busy={isSearching}>
        <h2 id="hits" className={rows["heading"]}>
          In notebooks {notebooks.length > 0 && <span className={rows["number"]}>{notebooks.length}</span>}
        </h2>
        {notebooks.length === 0 && (
          <p className={rows["none"]}>{isSearching ? "Searching…" : text ? "Nothing found in code and outputs. Fewer words find more." : "Type two letters or more."}</p>
        )}
        <Groups key={text} groups={notebooks} text={text} most={MOST_HITS} />
      </section>
      {runs.length > 0 && (
        <section aria-labelledby="hits-in-runs" aria-busy={isSearching}>
          <h2 id="hits-in-runs" className={rows["heading"]}>
            In runs <span className={rows["number"]}>{runs.length}</span>
          </h2>
          <Groups key={text} groups={runs} text={text} most={RUNS} />
        </section>
      )}
      {hits.length >= MOST_HITS && <p className={rows["none"]}>These are the first {MOST_HITS} places. More words find fewer.</p>}
    </>
  )
}

interface GroupsProps {
  readonly groups: readonly HitGroup[]
  readonly text: string
  /** How many are shown at first. */
  readonly most: number
}

function Groups({ groups, text, most }: GroupsProps) {
  const [showsAll, setShowsAll] = useState(false)
  if (groups.length === 0) return null
  const shown = showsAll ? groups : groups.slice(0, most)
  return (
    <>
      <ul className={rows["rows"]}>
        {shown.map((group) => (
          <Group key={group.log} group={group} text={text} />
        ))}
      </ul>
      {shown.length < groups.length && (
        <div className={css["more"]}>
          <Button kind="quiet" onClick={() => setShowsAll(true)}>
            {count(groups.length - shown.length, "more run")}
          </Button>
        </div>
      )}
    </>
  )
}

function Group({ group, text }: { readonly group: HitGroup; readonly text: string }) {
  const [showsAll, setShowsAll] = useState(false)
  const { log, name, run, hits } = group
  const address = `/${run ? "runs" : "notebooks"}/${encodeURIComponent(log)}`
  const shown = showsAll ? hits : hits.slice(0, run ? PLACES_IN_RUN : PLACES)
  return (
    <li className={css["hits"]} data-group={run ? "run" : "notebook"}>
      <div className={classes(rows["row"], css["found"])} data-row>
        <span className={rows["kind"]}>{run ? <StateMark state={stateOf(run)} text="" /> : <Icon name="notebook" />}</span>
        <span className={rows["title"]}>
          <a className={rows["link"]} href={address}>
            {run && "Run of "}
            {name}
          </a>
        </span>
        {run && (
          <span className={rows["fact"]}>
            {run.status === "success" ? "succeeded" : stateWord(run.status)} · <Time at={run.at} />
          </span>
        )}
      </div>
      {shown.length > 0 && (
        <ul>
          {shown.map((hit) => (
            <HitRow key={`${hit.where} ${hit.cell ?? ""}`} hit={hit} text={text} address={address} />
          ))}
        </ul>
      )}
      {shown.length < hits.length && (
        <Button kind="quiet" onClick={() => setShowsAll(true)}>
          {hits.length - shown.length} more in this {run ? "run" : "notebook"}
        </Button>
      )}
    </li>
  )
}

function stateOf({ status }: NonNullable<Hit["run"]>): string {
  return status === "success" ? "ok" : status
}

function HitRow({ hit, text, address }: { readonly hit: Hit; readonly text: string; readonly address: string }) {
  const isSource = hit.where === "source"
  return (
    <li className={classes(rows["row"], css["hit"])} data-row data-kind="hit">
      <span className={rows["kind"]} data-tip={isSource ? "In the code" : "In an output"}>
        <Icon name={isSource ? "code" : "right"} />
        <span className="visually-hidden">{isSource ? "code:" : "output:"}</span>
      </span>
      <span className={rows["title"]}>
        <a className={rows["link"]} href={`${address}${hit.cell ? `#cell=${encodeURIComponent(hit.cell)}` : ""}`}>
          <code>
            {markWords(hit.text, text).map((piece, index) => (piece.isFound ? <mark key={index}>{piece.text}</mark> : piece.text))}
          </code>
        </a>
      </span>
    </li>
  )
}
