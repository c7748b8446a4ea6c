/** The page of a notebook, or of a run: opens it, and shows it once it is there. */

import { useEffect, useState } from "react"
import type { ReactNode } from "react"
import type { LogId } from "../core/types.gen.ts"
import type { PanelSpec } from "../hooks/panel.ts"
import { Fault } from "../sync/fault.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import type { OpenParts } from "../sync/open.ts"
import { Button } from "../ui/Button.tsx"
import { EmptyState } from "../ui/EmptyState.tsx"
import { NotFoundPage } from "../ui/NotFoundPage.tsx"
import { useToasts } from "../ui/Toasts.tsx"
import { OpenPage } from "./OpenPage.tsx"
import { openPage } from "./page.ts"
import type { Page } from "./page.ts"
import styles from "./Page.module.css"

export interface NotebookPageProps {
  readonly log: LogId
  readonly parts: OpenParts
  /** Null while they are being loaded. */
  readonly panels: readonly PanelSpec[] | null
  readonly nonce: string
  /** Stands in place of header, cells and rail while it is there: the notebook stays open behind it. */
  readonly cover?: ((context: PageContext) => ReactNode) | undefined
}

type Opening = { readonly kind: "opening" } | { readonly kind: "open"; readonly page: Page } | { readonly kind: "failed"; readonly error: unknown }

export function NotebookPage({ log, parts, panels, nonce, cover }: NotebookPageProps) {
  const [attempt, setAttempt] = useState(0)
  const opening = useOpening(log, parts, nonce, attempt)
  if (opening.kind === "opening") return <div className={styles["opening"]} aria-busy="true" />
  if (opening.kind === "failed") return <Failed error={opening.error} onRetry={() => setAttempt(attempt + 1)} />
  return <OpenPage page={opening.page} panels={panels} cover={cover} />
}

function useOpening(log: LogId, parts: OpenParts, nonce: string, attempt: number): Opening {
  const [opening, set] = useState<Opening>({ kind: "opening" })
  const notify = useToasts()
  useEffect(() => {
    let isClosed = false
    let page: Page | null = null
    openPage(log, parts, { nonce, notify }).then(
      (opened) => {
        page = opened
        if (isClosed) opened.close()
        else {
          // Where a panel is a sheet over the cells, one that is remembered would hide them.
          if (matchMedia("(width < 900px)").matches) opened.panel.set(null)
          set({ kind: "open", page: opened })
        }
      },
      (error: unknown) => {
        if (!isClosed) set({ kind: "failed", error })
      },
    )
    const leave = (): void => page?.live.flush()
    addEventListener("pagehide", leave)
    return () => {
      isClosed = true
      removeEventListener("pagehide", leave)
      page?.close()
      set({ kind: "opening" })
    }
  }, [log, parts, nonce, notify, attempt])
  return opening
}

function Failed({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  const kind = location.pathname.startsWith("/runs/") ? "run" : "notebook"
  // What is not even an id is refused as bad input.
  const isAbsent = error instanceof Fault && (error.kind === "NotFound" || error.kind === "BadInput")
  if (isAbsent) return <NotFoundPage kind={kind} path={location.pathname} />
  return (
    <main id="main" className={styles["failed"]} data-empty>
      <EmptyState
        title={`This ${kind} cannot be opened`}
        actions={
          <>
            <Button onClick={onRetry}>Try again</Button>
            <a href="/">All notebooks</a>
          </>
        }
      >
        {error instanceof Error ? error.message : String(error)}
      </EmptyState>
    </main>
  )
}
