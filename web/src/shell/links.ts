/** Plain links between pages of the app change the page without loading the app again. */

import { isPagePath } from "../sync/page_paths.ts"

/** Call `go` with the path for each click on a link to a page of ours; a click that asks for another tab is the browser's. */
export function followLinks(document: Document, go: (path: string) => void): () => void {
  const click = (event: MouseEvent): void => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = event.target instanceof Element ? event.target.closest("a") : null
    if (!link || link.origin !== location.origin || link.target || link.download || !isPagePath(link.pathname)) return
    if (link.pathname === location.pathname && link.hash) return
    event.preventDefault()
    go(link.pathname + link.search + link.hash)
  }
  document.addEventListener("click", click)
  return () => document.removeEventListener("click", click)
}
