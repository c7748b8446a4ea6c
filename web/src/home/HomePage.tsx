/** Home: what waits for you, the notebooks, the last runs. */

import { lazy, Suspense, useMemo, useRef, useState } from "react"
import type { ComponentType } from "react"

import type { NotebookSummary, RunSummary } from "../sync/api_types.ts"
import type { OpenParts } from "../sync/open.ts"
import { Bar } from "../ui/Bar.tsx"
import { useTitle } from "../ui/title.ts"
import { filterNotebooks } from "./overview.ts"
import { DropArea } from "./DropArea.tsx"
import { HomeDialogs } from "./HomeDialogs.tsx"
import type { HomeDialog } from "./HomeDialogs.tsx"
import css from "./Home.module.css"
import { HomeEmpty } from "./HomeEmpty.tsx"
import { HomeHeader } from "./HomeHeader.tsx"
import { HomeToolbar } from "./HomeToolbar.tsx"
import { LoadingRows } from "./LoadingRows.tsx"
import { NotebookList } from "./NotebookList.tsx"
import { SearchHits } from "./SearchHits.tsx"
import { useActs } from "./use_acts.ts"
import { useHomeKeys } from "./use_home_keys.ts"
import { useMe } from "./use_me.ts"
import { useOverview } from "./use_overview.ts"
import { useSearch } from "./use_search.ts"
import { WaitingList } from "./WaitingList.tsx"

const ReviewList = lazy(() => import("./ReviewList.tsx"))
const NO_NOTEBOOKS: readonly NotebookSummary[] = []
const MOST_RUNS = 10

export interface HomePageProps {
  readonly parts: OpenParts
  /** The list of runs, which is another screen's. */
  readonly RunList: ComponentType<{ readonly runs: readonly RunSummary[]; readonly me: string | undefined }>
}

export default function HomePage({ parts, RunList }: HomePageProps) {
  const { overview, fault, reload } = useOverview(parts)
  const me = useMe(parts)
  const [filter, setFilter] = useState("")
  const [dialog, setDialog] = useState<HomeDialog | null>(null)
  const search = useSearch(parts.api, filter)
  const filterField = useRef<HTMLInputElement>(null)
  const list = useRef<HTMLElement>(null)
  const notebooks = overview?.notebooks ?? NO_NOTEBOOKS
  const acts = useActs({ parts, notebooks, reload, setDialog })
  useTitle("", overview?.waiting.length ?? 0)
  useHomeKeys({ filterField, list, acts, setDialog, isDialogOpen: dialog !== null })

  const shown = useMemo(() => filterNotebooks(notebooks, filter), [notebooks, filter])
  const isFiltered = filter.trim() !== ""
  const isEmpty = overview !== null && notebooks.length === 0 && overview.runs.length === 0
  return (
    <DropArea onDrop={acts.takeIn}>
      <HomeHeader me={me} onKeys={() => setDialog({ kind: "keys" })} />
      {fault && <Bar kind="error">{fault}</Bar>}
      <main ref={list} id="main" className={css["main"]} tabIndex={-1}>
        <h1 className="visually-hidden">Home</h1>
        {isEmpty ? (
          <HomeEmpty acts={acts} setDialog={setDialog} />
        ) : (
          <>
            {overview && !isFiltered && <WaitingList waiting={overview.waiting} me={me?.actor} />}
            {overview && !isFiltered && (
              <Suspense fallback={null}>
                <ReviewList api={parts.api} me={me?.actor} version={overview} />
              </Suspense>
            )}
            <HomeToolbar filter={filter} onFilter={setFilter} filterField={filterField} acts={acts} setDialog={setDialog} />
            {overview ? (
              <NotebookList notebooks={shown} me={me?.actor} filter={filter} acts={acts} setDialog={setDialog} />
            ) : (
              <LoadingRows />
            )}
            {isFiltered && <SearchHits search={search} />}
            {overview && !isFiltered && overview.runs.length > 0 && (
              <Suspense fallback={null}>
                <RunList runs={overview.runs.slice(0, MOST_RUNS)} me={me?.actor} />
              </Suspense>
            )}
          </>
        )}
      </main>
      <HomeDialogs dialog={dialog} parts={parts} acts={acts} onClose={() => setDialog(null)} />
    </DropArea>
  )
}
