/** Notice elements that come near the viewport, with one observer for all of them. */

type Callback = () => void

const callbacks = new Map<Element, Callback>()
let observer: IntersectionObserver | null = null

/** Call back once, when an element is at most a screen away from being seen, or the page is printed. */
export function whenNear(element: Element, callback: Callback): () => void {
  callbacks.set(element, callback)
  observer ??= startObserver()
  observer.observe(element)
  return () => forget(element)
}

function startObserver(): IntersectionObserver {
  addEventListener("beforeprint", () => [...callbacks.keys()].forEach(arrive))
  // The margin of an inner scroller is an option of its own, which the types do not have yet.
  const options = { rootMargin: "100% 0px", scrollMargin: "100% 0px" }
  return new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting) arrive(target)
  }, options)
}

function arrive(element: Element): void {
  const callback = callbacks.get(element)
  forget(element)
  callback?.()
}

function forget(element: Element): void {
  callbacks.delete(element)
  observer?.unobserve(element)
}

/** How much text is coloured in one turn of the event loop before the rest waits until it is near. */
const MOST_CHARACTERS = 24_000

/** Lets the first cells of a page, and a single one later, be coloured as they are first rendered. */
export class TurnAllowance {
  #left = MOST_CHARACTERS
  #isSpent = false

  take(characters: number): boolean {
    if (!this.#isSpent) {
      this.#isSpent = true
      setTimeout(() => {
        this.#left = MOST_CHARACTERS
        this.#isSpent = false
      })
    }
    const isLeft = this.#left > 0
    this.#left -= characters
    return isLeft
  }
}
