/** Starts the app: signs this browser in, then shows the page of the address. The only file that knows every page. */

import { lazy, StrictMode, Suspense, useEffect, useState } from "react"
import type { ReactNode } from "react"
import { createRoot } from "react-dom/client"
import { Route, Switch, useLocation, useSearch } from "wouter"

import type { PanelSpec } from "./hooks/panel.ts"
import { Bars } from "./shell/Bars.tsx"
import { ConnectionBar } from "./shell/ConnectionBar.tsx"
import { ErrorBoundary } from "./shell/ErrorBoundary.tsx"
import { PageKeys } from "./shell/PageKeys.tsx"
import { followLinks } from "./shell/links.ts"
import { SignInPage } from "./shell/SignInPage.tsx"
import css from "./shell/shell.module.css"
import { hostPermissions } from "./sync/allowed_hosts.ts"
import { browserParts, forgetPageKey, signInHere } from "./sync/browser.ts"
import { Fault } from "./sync/fault.ts"
import type { PageContext } from "./sync/notebook_page.ts"
import type { OpenParts } from "./sync/open.ts"
import { isPagePath } from "./sync/page_paths.ts"
import { Preferences } from "./sync/preferences.ts"
import type { Theme } from "./sync/preferences.ts"
import { readFragment } from "./sync/sign_in.ts"
import { pageNonce } from "./ui/nonce.ts"
import { NotFoundPage } from "./ui/NotFoundPage.tsx"
import { Toasts, useToasts } from "./ui/Toasts.tsx"
import { Tooltips } from "./ui/Tooltip.tsx"
import "./ui/tokens.css"
import "./ui/base.css"

// ---- Pages, each in a chunk of its own

const loadRunList = () => import("./runs/RunList.tsx")
const loadHome = () => {
  void loadRunList()
  return import("./home/HomePage.tsx")
}
const loadSettings = () => import("./settings/SettingsPage.tsx")
const loadRuns = () => import("./runs/RunsPage.tsx")
const loadRunComparison = () => import("./runs/ComparePage.tsx")
const loadNotebook = () => import("./notebook/NotebookPage.tsx")
const loadReview = () => import("./review_page.tsx")

const HomePage = lazy(loadHome)
const SettingsPage = lazy(loadSettings)
const RunsPage = lazy(loadRuns)
const SchedulesPage = lazy(() => import("./schedules/SchedulesPage.tsx"))
const RunComparison = lazy(loadRunComparison)
const RunAgainForm = lazy(() => import("./params/RunAgainForm.tsx"))
const RunList = lazy(loadRunList)
const MomentView = lazy(() => import("./moments/MomentView.tsx"))
const ReadingPage = lazy(() => import("./reading/ReadingPage.tsx"))
const ReadingForm = lazy(() => import("./params/ReadingForm.tsx"))
const ComparePage = lazy(() => import("./moments/ComparePage.tsx"))
const ReviewPage = lazy(loadReview)
const NotebookPage = lazy(() => loadNotebook().then((module) => ({ default: module.NotebookPage })))

/** Fetch the code of a page while this browser still signs in. */
function preload(path: string): void {
  if (path === "/runs/compare") void loadRunComparison()
  else if (path.startsWith("/notebooks/") || path.startsWith("/runs/")) void loadNotebook()
  else if (path.startsWith("/reviews/")) void loadReview()
  else if (path === "/settings") void loadSettings()
  else if (path === "/runs") void loadRuns()
  else if (path === "/") void loadHome()
}

interface LoadedPanels {
  /** In the order of their buttons. */
  readonly panels: readonly PanelSpec[]
  /** Whether one could not be loaded: the others work without it. */
  readonly isPartial: boolean
}

/** The panels of a notebook's rail. */
async function loadPanels(): Promise<LoadedPanels> {
  const loaded = await Promise.allSettled([
    import("./outline/panel.tsx"),
    import("./find/panel.tsx"),
    import("./params/panel.tsx"),
    import("./runtime/panel.tsx"),
    import("./history/panel.tsx"),
    import("./files/panel.tsx"),
    import("./comments/panel.tsx"),
    import("./people/panel.tsx"),
    import("./proposals/panel.tsx"),
    import("./since/panel.tsx"),
    import("./activity/panel.tsx"),
    import("./sharing/panel.tsx"),
    import("./tour/panel.tsx"),
    import("./moments/panel.tsx"),
    import("./reading/panel.tsx"),
  ])
  const panels = loaded.flatMap((each) => (each.status === "fulfilled" ? [each.value.panel] : []))
  return { panels, isPartial: panels.length < loaded.length }
}

// ---- The app

interface AppProps {
  readonly parts: OpenParts
  readonly preferences: Preferences
  readonly nonce: string
  /** Why the address did not sign this browser in. */
  readonly refusal: string | null
}

function App({ parts, preferences, nonce, refusal }: AppProps) {
  const [path, go] = useLocation()
  const isSignedOut = useSignedOut(parts)
  useEffect(() => followLinks(document, (to) => go(to)), [go])
  if (!isPagePath(location.pathname)) return <NotFoundPage path={location.pathname} />
  if (isSignedOut) return <SignInPage refusal={refusal} />
  return (
    <>
      <a className={css["skip"]} href="#main">
        Skip to the page
      </a>
      <Bars>
        <ConnectionBar socket={parts.socket} />
      </Bars>
      <ErrorBoundary resetKey={path}>
        <Suspense fallback={<div className={css["loading"]} aria-busy="true" />}>
          <Pages parts={parts} preferences={preferences} nonce={nonce} />
        </Suspense>
      </ErrorBoundary>
    </>
  )
}

function Pages({ parts, preferences, nonce }: Omit<AppProps, "refusal">) {
  const notebook = ({ log }: { readonly log: string }): ReactNode => <NotebookRoute key={log} log={log} parts={parts} nonce={nonce} />
  return (
    <Switch>
      <Route path="/">
        <HomePage parts={parts} RunList={RunList} />
      </Route>
      <Route path="/notebooks/:log">{notebook}</Route>
      <Route path="/runs/compare">
        <RunComparison parts={parts} nonce={nonce} />
        <PageKeys />
      </Route>
      <Route path="/:place/:log/compare">
        {({ log }) => (
          <>
            <ComparePage key={log} log={decoded(log)} parts={parts} nonce={nonce} />
            <PageKeys />
          </>
        )}
      </Route>
      <Route path="/runs/:log">{notebook}</Route>
      <Route path="/read/:log">
        {({ log }) => (
          <>
            <ReadingPage key={log} log={decoded(log)} parts={parts} nonce={nonce} Form={ReadingForm} />
            <PageKeys />
          </>
        )}
      </Route>
      <Route path="/reviews/:log">
        {({ log }) => <ReviewPage key={log} log={decoded(log)} parts={parts} nonce={nonce} />}
      </Route>
      <Route path="/runs">
        <RunsPage parts={parts} RunAgainForm={RunAgainForm} />
        <PageKeys load={loadRunKeys} />
      </Route>
      <Route path="/schedules">
        <SchedulesPage parts={parts} />
        <PageKeys />
      </Route>
      <Route path="/settings">
        <SettingsPage parts={parts} preferences={preferences} onSignedOut={leave} />
        <PageKeys />
      </Route>
    </Switch>
  )
}

const loadRunKeys = () => import("./runs/use_table_keys.ts").then((module) => module.TABLE_KEYS)

function NotebookRoute({ log, parts, nonce }: { readonly log: string; readonly parts: OpenParts; readonly nonce: string }) {
  const [panels, setPanels] = useState<readonly PanelSpec[] | null>(null)
  const notify = useToasts()
  useEffect(() => {
    let isShown = true
    void loadPanels().then((loaded) => {
      if (!isShown) return
      setPanels(loaded.panels)
      if (loaded.isPartial) notify({ text: "Some panels could not be loaded.", action: { label: "Reload the page", do: () => location.reload() } })
    })
    return () => void (isShown = false)
  }, [notify])
  const at = new URLSearchParams(useSearch()).get("at")
  const cover = at === null ? undefined : (context: PageContext) => <Past context={context} at={at} nonce={nonce} />
  return <NotebookPage log={decoded(log)} parts={parts} panels={panels} nonce={nonce} cover={cover} />
}

/** The notebook as it was, once the code for that is there. */
function Past(props: { readonly context: PageContext; readonly at: string; readonly nonce: string }) {
  return (
    <Suspense fallback={<div className={css["loading"]} aria-busy="true" />}>
      <MomentView {...props} />
    </Suspense>
  )
}

/** A part of an address as it was meant; as it stands, if it is badly escaped: nothing has such an id. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Whether this browser was not signed in when the page was opened. A token that ends later leaves the page as it is. */
function useSignedOut({ api }: OpenParts): boolean {
  const [isSignedOut, setSignedOut] = useState(false)
  useEffect(() => {
    api.me().catch((error: unknown) => setSignedOut(error instanceof Fault && error.status === 401))
  }, [api])
  return isSignedOut
}

/** Forget this browser's key, and show how to sign in again. */
function leave(): void {
  forgetPageKey()
  location.assign("/")
}

// ---- The start

function applyTheme(theme: Theme): void {
  document.documentElement.dataset["theme"] = theme
}

async function start(page: HTMLElement): Promise<void> {
  const asked = readFragment(location.hash)
  const path = asked?.notebook ? `/notebooks/${encodeURIComponent(asked.notebook)}` : location.pathname
  // At once: a token is not to stand in the history.
  if (asked) history.replaceState(null, "", path)
  preload(path)
  const refusal = asked ? await signInHere(asked.token) : null
  const parts = browserParts()
  const preferences = new Preferences(parts.storage)
  preferences.follow(window)
  hostPermissions(parts.storage).follow(window)
  preferences.theme.subscribe(() => applyTheme(preferences.theme.get()))
  applyTheme(preferences.theme.get())
  createRoot(page).render(
    <StrictMode>
      <App parts={parts} preferences={preferences} nonce={pageNonce()} refusal={refusal} />
      <Toasts />
      <Tooltips />
    </StrictMode>,
  )
}

// An address that signs in, pasted into the tab of this page, changes only the fragment.
addEventListener("hashchange", () => {
  if (readFragment(location.hash)) location.reload()
})

const page = document.getElementById("app")
if (page) void start(page)
