/** Where the searched text is, in the sources and outputs of all notebooks. */

import type { Hit } from "../sync/api_types.ts"
import { Icon } from "../ui/Icon.tsx"
import rows from "../ui/Rows.module.css"
import { classes } from "../ui/classes.ts"
import css from "./Home.module.css"
import type { SearchState } from "./use_search.ts"

export function SearchHits({ search }: { readonly search: SearchState }) {
  const { text, isSearching } = search
  const hits = search.hits.filter(({ where }) => where !== "name")
  return (
    <section aria-labelledby="hits" aria-busy={isSearching}>
      <h2 id="hits" className={rows["heading"]}>
        In code and outputs {!isSearching && hits.length > 0 && <span className={rows["number"]}>{hits.length}</span>}
      </h2>
      <p className="visually-hidden" role="status">
        {isSearching ? "Searching" : `${hits.length} found`}
      </p>
      {hits.length === 0 && <p className={rows["none"]}>{isSearching ? "Searching…" : text ? "Nothing found." : "Type two letters or more."}</p>}
      <ul className={rows["rows"]}>
        {hits.map((hit, index) => (
          <HitRow key={index} hit={hit} text={text} />
        ))}
      </ul>
    </section>
  )
}

function HitRow({ hit, text }: { readonly hit: Hit; readonly text: string }) {
  const target = hit.cell ? `#cell=${encodeURIComponent(hit.cell)}` : ""
  return (
    <li className={classes(rows["row"], css["hit"])} data-row data-kind="hit">
      <span className={rows["kind"]} data-tip={hit.where === "source" ? "In the code" : "In an output"}>
        <Icon name={hit.where === "source" ? "code" : "right"} />
        <span className="visually-hidden">{hit.where}</span>
      </span>
      <span className={rows["title"]}>
        <a className={rows["link"]} href={`/notebooks/${encodeURIComponent(hit.log)}${target}`}>
          <code>
            <Marked line={hit.text} text={text} />
          </code>
        </a>
      </span>
      <span className={rows["fact"]}>{hit.name}</span>
    </li>
  )
}

/** A line with what was searched for marked in it, and not more of it than can be seen. */
function Marked({ line, text }: { readonly line: string; readonly text: string }) {
  const at = line.toLowerCase().indexOf(text.toLowerCase())
  if (at < 0) return line
  const start = Math.max(0, at - 40)
  return (
    <>
      {start > 0 ? "…" : ""}
      {line.slice(start, at)}
      <mark>{line.slice(at, at + text.length)}</mark>
      {line.slice(at + text.length)}
    </>
  )
}
