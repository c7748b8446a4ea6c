/** The name and the tags of a cell; of an SQL cell, the name of its result. Nothing where there are none. */

import { memo } from "react"
import type { Cell } from "../core/types.gen.ts"
import { Icon } from "../ui/Icon.tsx"
import styles from "./Cell.module.css"
import type { Page } from "./page.ts"

export const CellHead = memo(function CellHead({ page, cell }: { readonly page: Page; readonly cell: Cell }) {
  const { name, tags, kind, id } = cell
  const isSql = kind === "sql"
  if (name === null && !tags.length && !isSql && kind !== "raw" && kind !== "prompt") return null
  const edit = (what: "cell.name" | "cell.tags") => () => {
    page.view.press(id)
    page.doNamed(what)
  }
  return (
    <div className={styles["head"]}>
      {isSql && <span className={styles["kind"]}>SQL</span>}
      {(kind === "raw" || kind === "prompt") && <span className={styles["kind"]}>{kind}</span>}
      {(name !== null || isSql) && (
        <button
          type="button"
          className={styles["name"]}
          tabIndex={-1}
          disabled={!page.mayEdit}
          data-tip={isSql ? "The variable that has the result" : "Name of the cell"}
          data-name
          onClick={edit("cell.name")}
        >
          {isSql && "→ "}
          {name ?? "name the result"}
        </button>
      )}
      {tags.length > 0 && (
        <button type="button" tabIndex={-1} disabled={!page.mayEdit} data-tip="Tags" onClick={edit("cell.tags")}>
          <Icon name="tag" size={12} />
          {tags.join(", ")}
        </button>
      )}
    </div>
  )
})
