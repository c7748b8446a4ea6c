/** The page of a review, put together: comments are another screen's, and so are the keys of a page. */

import { REVIEW_COMMENTS } from "./comments/of_review.tsx"
import { REVIEW_ACTIONS } from "./review/actions.ts"
import ReviewPage from "./review/ReviewPage.tsx"
import { PageKeys } from "./shell/PageKeys.tsx"
import type { OpenParts } from "./sync/open.ts"

const loadKeys = () => Promise.resolve(REVIEW_ACTIONS)

export default function Review(props: { readonly log: string; readonly parts: OpenParts; readonly nonce: string }) {
  return (
    <>
      <ReviewPage {...props} comments={REVIEW_COMMENTS} />
      <PageKeys load={loadKeys} />
    </>
  )
}
