/** HTML of an output into the document, with its scripts run one after the other, as a page would. */

const SCRIPT = /^(?:$|(?:text|application)\/(?:x-)?(?:java|ecma)script$|module$)/i
/** What reaches out although nothing may be fetched: browsers look names up, or go elsewhere. */
const REACHING = "link[rel~=preconnect i], link[rel~=dns-prefetch i], link[rel~=prefetch i], link[rel~=prerender i], meta[http-equiv=refresh i], base"

export async function insertHtml(place: Element, html: string): Promise<void> {
  const parsed = new DOMParser().parseFromString(html, "text/html")
  for (const element of parsed.querySelectorAll(REACHING)) element.remove()
  for (const name of ["class", "style", "id"]) {
    const value = parsed.body.getAttribute(name)
    if (value !== null && place === document.body) place.setAttribute(name, value)
  }
  const nodes = [...parsed.head.childNodes, ...parsed.body.childNodes].map((node) => document.importNode(node, true))
  const holder = document.createDocumentFragment()
  holder.append(...nodes)
  const scripts = [...holder.querySelectorAll("script")].filter((script) => SCRIPT.test(script.type))
  place.append(holder)
  for (const script of scripts) await run(script)
  // Whoever waits for the document, as whole pages do, waited for this.
  document.dispatchEvent(new Event("DOMContentLoaded"))
  window.dispatchEvent(new Event("load"))
}

/** A parsed script does not run: a new one in its place does. */
async function run(script: HTMLScriptElement): Promise<void> {
  const fresh = document.createElement("script")
  for (const { name, value } of script.attributes) fresh.setAttribute(name, value)
  fresh.async = false
  fresh.textContent = script.textContent
  if (!fresh.hasAttribute("src")) {
    script.replaceWith(fresh)
    return
  }
  await new Promise<void>((resolve) => {
    fresh.addEventListener("load", () => resolve())
    fresh.addEventListener("error", () => resolve())
    script.replaceWith(fresh)
  })
}

/** Once a document is there, `write` would replace it, and all that listens in it: it adds to it instead. */
export function tameDocument(): void {
  const write = (...parts: string[]): void => {
    void insertHtml(document.currentScript?.parentElement ?? document.body, parts.join(""))
  }
  Object.assign(document, { write, writeln: write, open: () => document, close: () => undefined })
}
