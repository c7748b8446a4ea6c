/**
 * What runs inside the sandbox: takes one output from the page and draws it.
 *
 * Everything here shares its window with the output, which may change or forge all of it. Nothing here is a border: those
 * are the opaque origin and the policy of /frame, and the page, which believes nothing that it is told from here.
 */

import type { FrameTheme, FromFrame, ToFrame } from "../outputs/protocol.ts"
import { draw } from "./draw.ts"
import { tameDocument } from "./html.ts"
import { keepWheel } from "./wheel.ts"

const page = window.parent

/** Take the first message that the page itself sends: another frame can send some, too. */
function waitForContent(event: MessageEvent<ToFrame>): void {
  const port = event.ports[0]
  if (event.source !== page || event.data.type !== "show" || !port) return
  window.removeEventListener("message", waitForContent)
  event.stopImmediatePropagation()
  start(event.data, port)
}

function start({ content, theme }: Extract<ToFrame, { type: "show" }>, port: MessagePort): void {
  const say = (message: FromFrame): void => port.postMessage(message)
  const isPaper = content.kind === "html" && isMadeForPaper(content.html)
  let isDark = theme.isDark
  port.onmessage = ({ data }: MessageEvent<ToFrame>) => {
    if (data.type !== "theme") return
    dress(data.theme, isPaper)
    // The colours of its text are drawn into a chart.
    if (content.kind === "vega" && data.theme.isDark !== isDark) {
      document.body.replaceChildren()
      void draw(document.body, content, data.theme)
    }
    isDark = data.theme.isDark
  }
  dress(theme, isPaper)
  tameDocument()
  reportFailures(say)
  reportHeight(say)
  keepWheel(say)
  followLinks(say)
  draw(document.body, content, theme).then(
    () => say({ type: "drawn" }),
    (error: unknown) => say({ type: "failed", message: describe(error) }),
  )
}

/** Whether HTML paints its own grounds and knows no dark page: its text would not be read on one. */
function isMadeForPaper(html: string): boolean {
  return /background(-color)?\s*:|bgcolor\s*=/i.test(html) && !/color-scheme/i.test(html)
}

function dress(theme: FrameTheme, isPaper: boolean): void {
  const { style } = document.documentElement
  style.colorScheme = theme.isDark && !isPaper ? "dark" : "light"
  style.setProperty("--font", theme.font)
  // The page's colours are those of a dark page then.
  const colours = theme.isDark && isPaper ? {} : theme.colours
  for (const name of Object.keys(theme.colours)) style.setProperty(name, colours[name] ?? "")
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}

/** Say what the policy forbade, and what was thrown. */
function reportFailures(say: (message: FromFrame) => void): void {
  const hosts = new Set<string>()
  document.addEventListener("securitypolicyviolation", (event) => {
    if (!URL.canParse(event.blockedURI)) return
    const { origin } = new URL(event.blockedURI)
    if (hosts.has(origin) || hosts.size > 50) return
    hosts.add(origin)
    say({ type: "wanted", address: origin })
  })
  window.addEventListener("error", (event) => {
    if (event.message) say({ type: "failed", message: event.message })
  })
  window.addEventListener("unhandledrejection", (event) => say({ type: "failed", message: describe(event.reason) }))
}

/** Say how high the content is, whenever that changes. */
function reportHeight(say: (message: FromFrame) => void): void {
  let last = -1
  const measure = (): void => {
    const { body, documentElement: root } = document
    const scrollbar = root.scrollWidth > root.clientWidth ? innerHeight - root.clientHeight : 0
    const height = Math.ceil(Math.max(body.getBoundingClientRect().height, body.scrollHeight)) + scrollbar
    if (height === last) return
    last = height
    say({ type: "height", height })
  }
  const observer = new ResizeObserver(measure)
  observer.observe(document.body)
  observer.observe(document.documentElement)
  document.addEventListener("load", measure, true)
  new MutationObserver(measure).observe(document.body, { childList: true, subtree: true, attributes: true })
}

/** A frame opens no window: the page is told where a link leads, and shows it. */
function followLinks(say: (message: FromFrame) => void): void {
  document.addEventListener("click", (event) => {
    const link = event.composedPath().find((each) => each instanceof HTMLAnchorElement || each instanceof SVGAElement)
    const address = link instanceof HTMLAnchorElement ? link.href : link?.href.baseVal
    if (!address || (link instanceof HTMLAnchorElement && link.getAttribute("href")?.startsWith("#"))) return
    if (address.startsWith("javascript:") || address.startsWith("blob:")) return
    event.preventDefault()
    say({ type: "link", address })
  })
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.defaultPrevented) say({ type: "leave" })
  })
}

window.addEventListener("message", waitForContent)
page.postMessage({ type: "ready" } satisfies FromFrame, "*")
