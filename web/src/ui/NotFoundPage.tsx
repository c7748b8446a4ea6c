/** The page of an address that leads nowhere: which one, and the ways out. */

import { EmptyState } from "./EmptyState.tsx"
import css from "./EmptyState.module.css"
import { Header } from "./Header.tsx"
import { useTitle } from "./title.ts"

const LONGEST = 200

export interface NotFoundPageProps {
  /** What is looked for there: "notebook", "run". */
  readonly kind?: string | undefined
  readonly path: string
}

export function NotFoundPage({ kind, path }: NotFoundPageProps) {
  useTitle("Not found")
  const shown = path.length > LONGEST ? `${path.slice(0, LONGEST)}…` : path
  return (
    <>
      <Header />
      <main id="main" className={css["page"]} tabIndex={-1} data-empty>
        <EmptyState
          isPage
          title={`There is ${kind ? `no ${kind}` : "nothing"} at ${shown}`}
          actions={
            <>
              <a href="/">All notebooks</a>
              <a href="/runs">All runs</a>
            </>
          }
        >
          The address may be mistyped{kind ? `, or the ${kind} is in another workspace` : ""}.
        </EmptyState>
      </main>
    </>
  )
}
