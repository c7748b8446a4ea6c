/** An open notebook: header, cells, rail, and what is open over them. Keys of the whole page come in here. */

import { Fragment, useEffect, useLayoutEffect, useMemo } from "react"
import type { ReactNode } from "react"
import { waitingFor } from "../core/proposals.ts"
import type { PanelSpec } from "../hooks/panel.ts"
import { useField, useValue } from "../hooks/values.ts"
import type { OutputContext } from "../outputs/context.ts"
import { hostPermissions } from "../sync/allowed_hosts.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { widgetStates } from "../sync/widget_states.ts"
import { useTitle } from "../ui/title.ts"
import { Announcer } from "./Announcer.tsx"
import { CellList } from "./CellList.tsx"
import { prefetchEditor } from "./CellSource.tsx"
import { listenForFiles } from "./file_drop.ts"
import { Header } from "./Header.tsx"
import { listenForKeys, listenForUndo } from "./key_listener.ts"
import { Notices } from "./Notices.tsx"
import { Overlays } from "./Overlays.tsx"
import type { Page } from "./page.ts"
import styles from "./Page.module.css"
import { Rail, RailButtons } from "./Rail.tsx"

interface Props {
  readonly page: Page
  /** Null while they are being loaded. */
  readonly panels: readonly PanelSpec[] | null
  readonly cover?: ((context: PageContext) => ReactNode) | undefined
}

const NO_PANELS: readonly PanelSpec[] = []

export function OpenPage({ page, panels: loaded, cover }: Props) {
  const panels = loaded ?? NO_PANELS
  const isCovered = cover !== undefined
  const outputs = useMemo(() => outputContext(page), [page])
  const panel = useValue(page.panel)
  const shown = panels.find(({ name }) => name === panel) ?? null
  const waiting = waitingFor(page.open.me, { proposals: useField(page.live, "proposals") })
  useTitle(useField(page.live, "name"), waiting)
  // Before the page is painted: who sees the cells can use their keys.
  useLayoutEffect(() => {
    if (loaded !== null) page.setPanels(loaded)
  }, [page, loaded])
  useLayoutEffect(() => (isCovered ? listenForUndo(page) : listenForKeys(page)), [page, isCovered])
  useEffect(() => (isCovered ? undefined : listenForFiles(page)), [page, isCovered])
  useEffect(() => whenIdle(() => prefetchEditor()), [])
  useEffect(() => goToLinked(page), [page])
  const always = (
    <>
      <Overlays page={page} />
      {panels.map((each) => each.always && <Fragment key={each.name}>{each.always(page)}</Fragment>)}
    </>
  )
  if (cover) {
    return (
      <>
        {cover(page)}
        {always}
      </>
    )
  }
  return (
    <div className={styles["page"]} data-rail={shown ? "open" : undefined}>
      <Header page={page} extras={panels.map((each) => each.header && <Fragment key={each.name}>{each.header(page)}</Fragment>)}>
        <RailButtons page={page} panels={panels} />
      </Header>
      <main id="main" className={styles["main"]} tabIndex={-1}>
        <Notices page={page} />
        {panels.map((each) => each.notice && <Fragment key={each.name}>{each.notice(page)}</Fragment>)}
        <CellList page={page} outputs={outputs} />
      </main>
      {shown && <Rail page={page} panel={shown} />}
      <Announcer page={page} />
      {always}
    </div>
  )
}

function outputContext(page: Page): OutputContext {
  const { parts, log, nonce } = page
  return {
    log,
    nonce,
    blob: (hash) => parts.api.blob(hash),
    hosts: hostPermissions(parts.storage).of(log),
    whole: (execution) => parts.api.execution(log, execution),
    onGoToLine: (cell, line) => page.goToLine(cell, line),
    widgets: () => widgetStates(parts.api, page.live.store.get()),
  }
}

/** Home and others link to a cell, `#cell=ID`, and to a proposal, `#proposal=ID`. */
function goToLinked(page: Page): void {
  const asked = new URLSearchParams(location.hash.slice(1))
  const [cell, proposal] = [asked.get("cell"), asked.get("proposal")]
  if (cell && page.live.store.cell(cell)) page.goTo(cell)
  if (proposal && page.live.store.get().proposals.has(proposal)) page.openPanel("proposals", proposal)
}

function whenIdle(then: () => void): () => void {
  const wait = setTimeout(then, 3000)
  const idle = "requestIdleCallback" in globalThis ? requestIdleCallback(() => then(), { timeout: 2000 }) : undefined
  return () => {
    clearTimeout(wait)
    if (idle !== undefined) cancelIdleCallback(idle)
  }
}
