/** The addresses of the app's pages, as src/quire/doors/http/web_pages.py has them. */

const PAGES = /^\/(?:(?:runs|schedules|settings|(?:read|reviews)\/[^/]+|(?:notebooks|runs)\/[^/]+(?:\/compare)?)\/?)?$/

/** Whether there is a page at a path. */
export function isPagePath(path: string): boolean {
  return PAGES.test(path)
}
