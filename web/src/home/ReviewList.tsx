/** The reviews that wait for an answer. */

import { useEffect, useState } from "react"

import type { Api } from "../sync/api.ts"
import { listReviews } from "../sync/api_reviews.ts"
import type { ReviewSummary } from "../sync/api_reviews.ts"
import { Icon } from "../ui/Icon.tsx"
import { Person } from "../ui/Person.tsx"
import rows from "../ui/Rows.module.css"
import { Time } from "../ui/Time.tsx"
import { classes } from "../ui/classes.ts"
import css from "./Home.module.css"
import { count } from "./overview.ts"

interface Props {
  readonly api: Api
  readonly me: string | undefined
  /** Another value each time something happened in the workspace. */
  readonly version: unknown
}

const KINDS: Readonly<Record<ReviewSummary["kind"], string>> = { proposal: "a proposal", run: "what was changed in a run", revisions: "two revisions" }

export default function ReviewList({ api, me, version }: Props) {
  const [reviews, setReviews] = useState<readonly ReviewSummary[]>([])
  useEffect(() => {
    let isGone = false
    listReviews(api).then(
      (found) => isGone || setReviews(found),
      () => undefined, // the list of notebooks says that the server is away
    )
    return () => void (isGone = true)
  }, [api, version])
  if (reviews.length === 0) return null
  return (
    <section aria-labelledby="reviews">
      <h2 id="reviews" className={rows["heading"]}>
        Reviews <span className={rows["number"]}>{reviews.length}</span>
      </h2>
      <ul className={rows["rows"]}>
        {reviews.map((review) => (
          <li key={review.log} className={classes(rows["row"], css["waiting"])} data-row data-kind="review">
            <span className={rows["kind"]}>
              <Icon name="check" />
            </span>
            <span className={rows["title"]}>
              <a className={rows["link"]} href={`/reviews/${encodeURIComponent(review.log)}`}>
                {review.name}
              </a>
            </span>
            <span className={rows["fact"]}>
              {review.answer === "change_asked" ? "a change was asked for" : KINDS[review.kind]}
              {review.comments > 0 && ` · ${count(review.comments, "comment")}`}
            </span>
            <span className={rows["fact"]}>
              <Person actor={review.by} onBehalfOf={review.on_behalf_of} me={me} /> opened it · <Time at={review.at} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
