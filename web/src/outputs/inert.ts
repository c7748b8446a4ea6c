/**
 * Parse HTML without letting any of it act: no script runs, nothing is fetched.
 *
 * Styles and handlers are renamed first. They would do nothing in a document that is never shown, but the page's policy
 * complains of each.
 */
export function parseInertly(html: string): Document {
  const renamed = html
    .replace(/(<\/?)(?=style\b)/gi, "$1x-")
    .replace(/<[a-z][^<>]*>/gi, (tag) => tag.replace(/(?<=[\s"'/])(?=(?:style|on[a-z]+)\s*=)/gi, "data-"))
  return new DOMParser().parseFromString(renamed, "text/html")
}

/** The attribute that holds what was a style. */
export const STYLE = "data-style"
