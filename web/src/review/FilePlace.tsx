/** Where a file stands among those of its branch, and the way to the others. */

import { visible } from "../core/visible.ts"
import { Kbd } from "../ui/Kbd.tsx"
import css from "./BranchFiles.module.css"
import type { FilePlaces } from "./use_beside.ts"
import { reviewPath } from "./words.ts"

export function FilePlace({ places }: { readonly places: FilePlaces }) {
  const { branch, before, next, number, count } = places
  if (branch === null && before === null && next === null) return null
  return (
    <nav className={css["place"]} aria-label="Notebooks of the branch">
      <span>
        Notebook {number} of {count}
      </span>
      {branch !== null && (
        <a href={reviewPath(branch)}>
          All notebooks <Kbd keys="U" />
        </a>
      )}
      {before?.log && (
        <a href={reviewPath(before.log)} rel="prev">
          ← {visible(before.path)} <Kbd keys="B" />
        </a>
      )}
      {next?.log && (
        <a href={reviewPath(next.log)} rel="next">
          {visible(next.path)} → <Kbd keys="F" />
        </a>
      )}
    </nav>
  )
}
