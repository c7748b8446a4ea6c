/**
 * The frames of outputs: made near the view, parked where React would reload them, ended when they leave their page.
 *
 * A frame has an opaque origin and a policy without a network (docs/adr/0014). It gets its content once. One that loads a
 * second time was navigated by its content, perhaps to an address whose policy allows more: it is removed.
 *
 * A frame that is moved in the page is loaded anew, unless `moveBefore` moves it. React does not call that. So whoever
 * moves cells calls `parkFrames` before React does, and `unparkFrames` after; a cell that goes and comes back within a
 * minute, as by an undone removal, finds its frame parked.
 */

import type { AllowedHosts } from "./context.ts"
import { readFromFrame } from "./protocol.ts"
import type { Content, FromFrame, ToFrame } from "./protocol.ts"
import { frameTheme, watchTheme } from "./frame_theme.ts"

/** What is shown of a frame beside the frame itself. */
export interface FrameState {
  readonly height: number
  /** Addresses that it wanted to load from and did not get. */
  readonly wanted: readonly string[]
  readonly failures: readonly string[]
  /** Where the link leads that was clicked last. */
  readonly link: string | null
  readonly isDrawn: boolean
  /** Whether it was ended because it went elsewhere. */
  readonly isGone: boolean
  /** Whether a wheel turned over it, and went to the page. */
  readonly isHinted: boolean
  /** Whether it was taken out of memory: far from the view, with many others. */
  readonly isEnded: boolean
}

export const MOST_HEIGHT = 1200
const MOST_LIVE = 40
const MOST_WANTED = 20
const MOST_FAILURES = 3
const MOST_GROWTHS = 60
const KEPT_MILLISECONDS = 60_000
const POINTER_MILLISECONDS = 100

const frames = new Map<string, OutputFrame>()
const heights = new Map<string, number>()
let stopListening: (() => void) | null = null
/** When the pointer last moved over the page itself: over a frame, the page sees nothing of it. */
let pointerSeen = -Infinity

/** The frame of that key, made if it is not there, or if it shows something else. */
export function takeFrame(key: string, source: unknown, hosts: AllowedHosts, title: string): OutputFrame {
  const found = frames.get(key)
  if (found && found.source === source && found.hosts === hosts.get().join()) return found
  found?.end()
  const made = new OutputFrame(key, source, hosts, title)
  frames.set(key, made)
  stopListening ??= listen()
  endFarthest()
  return made
}

/** Whether a frame of that key lives. */
export function hasFrame(key: string): boolean {
  return frames.has(key)
}

/** The height that an output had when it was last shown. */
export function lastHeight(key: string): number | undefined {
  return heights.get(key)
}

/** Take the frames below an element out of it, with all that runs in them: what is in it is about to be moved. */
export function parkFrames(root: Element): void {
  for (const frame of frames.values()) if (root.contains(frame.element)) frame.park()
}

/** Put them back where their cells are now. */
export function unparkFrames(root: Element): void {
  for (const frame of frames.values()) if (frame.place && root.contains(frame.place)) frame.attach(frame.place)
}

export class OutputFrame {
  readonly source: unknown
  readonly hosts: string
  readonly element: HTMLIFrameElement
  /** Where it belongs; null while its output is not shown. */
  place: HTMLElement | null = null
  lastSeen = 0
  readonly #key: string
  readonly #listeners = new Set<() => void>()
  #content: Content | null = null
  #port: MessagePort | null = null
  #isReady = false
  #loads = 0
  #growths = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  readonly #stopHosts: () => void
  #state: FrameState

  constructor(key: string, source: unknown, hosts: AllowedHosts, title: string) {
    this.#key = key
    this.source = source
    this.hosts = hosts.get().join()
    // One that is shown is made anew by who shows it. One that waits out of sight must not go on with a host that was withdrawn.
    this.#stopHosts = hosts.subscribe(() => {
      if (!this.place && hosts.get().join() !== this.hosts) this.end()
    })
    this.#state = { height: heights.get(key) ?? 0, wanted: [], failures: [], link: null, isDrawn: false, isGone: false, isHinted: false, isEnded: false }
    this.element = makeElement(this.hosts, title)
    this.element.style.height = `${this.#state.height}px`
    this.element.addEventListener("load", () => this.#loaded())
  }

  readonly get = (): FrameState => this.#state

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Whether it knows what it draws. */
  get isFilled(): boolean {
    return this.#content !== null
  }

  /** What it draws; handed over as soon as it is ready, and only once. */
  show(content: Content): void {
    this.#content ??= content
    this.#handOver()
  }

  attach(place: HTMLElement): void {
    clearTimeout(this.#timer)
    this.place = place
    this.lastSeen = performance.now()
    if (this.element.parentNode === place || this.#state.isGone) return
    this.#move(place)
  }

  /** Its output is no longer shown. */
  detach(place: HTMLElement): void {
    if (this.place !== place) return
    this.place = null
    if (!canMove() || !this.element.isConnected) {
      this.end()
      return
    }
    this.park()
    this.#timer = setTimeout(() => this.end(), KEPT_MILLISECONDS)
  }

  park(): void {
    if (canMove() && this.element.isConnected) parkingPlace().moveBefore(this.element, null)
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#stopHosts()
    this.#port?.close()
    this.element.remove()
    this.#set({ isEnded: true })
    if (frames.get(this.#key) === this) frames.delete(this.#key)
    if (!frames.size) {
      stopListening?.()
      stopListening = null
    }
  }

  /** A message from its window. */
  hear(message: FromFrame): void {
    if (message.type !== "ready") return
    if (this.#isReady) {
      this.#leave()
      return
    }
    this.#isReady = true
    this.#handOver()
  }

  /** Send the colours again. */
  sendTheme(): void {
    this.#send({ type: "theme", theme: frameTheme() })
  }

  #move(place: HTMLElement): void {
    if (this.element.isConnected && canMove()) place.moveBefore(this.element, null)
    else {
      // A browser without `moveBefore` loads it anew: that is not its content's doing.
      this.#isReady = false
      this.#loads = 0
      this.#port?.close()
      this.#port = null
      place.append(this.element)
    }
  }

  #loaded(): void {
    this.#loads += 1
    if (this.#loads > 1) this.#leave()
  }

  #leave(): void {
    this.element.remove()
    this.#set({ isGone: true, height: 0 })
  }

  #handOver(): void {
    const target = this.element.contentWindow
    if (!this.#content || !this.#isReady || this.#port || !target) return
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    port1.onmessage = (event: MessageEvent<unknown>) => this.#take(readFromFrame(event.data))
    const message: ToFrame = { type: "show", content: this.#content, theme: frameTheme(), mostHeight: MOST_HEIGHT }
    // An opaque origin has no name to send to. The window is the frame's: nothing but our own document was ever in it.
    target.postMessage(message, "*", [port2])
  }

  #send(message: ToFrame): void {
    this.#port?.postMessage(message)
  }

  #take(message: FromFrame | null): void {
    switch (message?.type) {
      case "height":
        this.#resize(message.height)
        break
      case "wanted":
        if (this.#state.wanted.length < MOST_WANTED && !this.#state.wanted.includes(message.address)) {
          this.#set({ wanted: [...this.#state.wanted, message.address] })
        }
        break
      case "failed":
        if (this.#state.failures.length < MOST_FAILURES) this.#set({ failures: [...this.#state.failures, message.message], isDrawn: true })
        break
      case "drawn":
        this.#set({ isDrawn: true })
        break
      case "link":
        this.#set({ link: message.address })
        break
      case "wheel":
        this.#wheel(message.dx, message.dy)
        break
      case "leave":
        if (document.activeElement === this.element) this.place?.focus()
        break
      default:
    }
  }

  /** What grows with its frame would do so without end. */
  #resize(wanted: number): void {
    const height = Math.min(Math.max(Math.ceil(wanted), 0), MOST_HEIGHT)
    if (!this.place || height === this.#state.height) return
    this.#growths = height > this.#state.height ? this.#growths + 1 : this.#growths
    if (this.#growths > MOST_GROWTHS) return
    heights.set(this.#key, height)
    this.element.style.height = `${height}px`
    this.#set({ height })
  }

  /** A frame can lie about wheels: it moves the page only while the pointer may be over it, and not far at once. */
  #wheel(dx: number, dy: number): void {
    if (performance.now() - pointerSeen < POINTER_MILLISECONDS) return
    const limit = (by: number): number => Math.min(Math.max(by, -innerHeight / 2), innerHeight / 2)
    scrollerOf(this.element).scrollBy({ left: limit(dx), top: limit(dy), behavior: "instant" })
    if (!this.#state.isHinted) this.#set({ isHinted: true })
  }

  #set(change: Partial<FrameState>): void {
    this.#state = { ...this.#state, ...change }
    for (const listener of [...this.#listeners]) listener()
  }
}

// ---- The element

function makeElement(hosts: string, title: string): HTMLIFrameElement {
  const element = document.createElement("iframe")
  element.title = title
  element.setAttribute("sandbox", "allow-scripts")
  element.referrerPolicy = "no-referrer"
  element.allow = ""
  element.src = hosts ? `/frame?hosts=${hosts}` : "/frame"
  return element
}

function canMove(): boolean {
  return "moveBefore" in Element.prototype
}

let parking: HTMLElement | null = null

/** Where frames wait: in the page, so that they live, and out of sight. */
function parkingPlace(): HTMLElement {
  if (parking?.isConnected) return parking
  parking = document.createElement("div")
  parking.inert = true
  parking.setAttribute("aria-hidden", "true")
  parking.dataset["parkedFrames"] = ""
  Object.assign(parking.style, { position: "fixed", top: "0", left: "-10000px", width: "860px", height: "0", overflow: "hidden", visibility: "hidden" })
  document.body.append(parking)
  return parking
}

function scrollerOf(element: Element): Element {
  for (let above = element.parentElement; above; above = above.parentElement) {
    const { overflowY } = getComputedStyle(above)
    if ((overflowY === "auto" || overflowY === "scroll") && above.scrollHeight > above.clientHeight) return above
  }
  return document.scrollingElement ?? document.documentElement
}

/** The one listener for all frames: a window is told by its frame, not by what it says. */
function listen(): () => void {
  const hear = (event: MessageEvent<unknown>): void => {
    for (const frame of frames.values()) {
      if (event.source !== frame.element.contentWindow || event.source === null) continue
      const message = readFromFrame(event.data)
      if (message) frame.hear(message)
      return
    }
  }
  const seePointer = (): void => void (pointerSeen = performance.now())
  window.addEventListener("message", hear)
  window.addEventListener("pointermove", seePointer, { passive: true })
  const stopTheme = watchTheme(() => {
    for (const frame of frames.values()) frame.sendTheme()
  })
  return () => {
    window.removeEventListener("message", hear)
    window.removeEventListener("pointermove", seePointer)
    stopTheme()
  }
}

/** So many frames live at once: of more, those that were not seen for longest are ended, out of view ones only. */
function endFarthest(): void {
  if (frames.size <= MOST_LIVE) return
  const away = [...frames.values()].filter((frame) => frame.element.isConnected && !isNear(frame.element))
  away.sort((one, other) => one.lastSeen - other.lastSeen)
  for (const frame of away.slice(0, frames.size - MOST_LIVE)) frame.end()
}

function isNear(element: Element): boolean {
  const { top, bottom } = element.getBoundingClientRect()
  return bottom > -innerHeight && top < 2 * innerHeight
}
