/** A hook for what is made only near the view. */

import { useEffect, useState } from "react"

/** Whether an element is near the view. */
export function useNear(place: { readonly current: Element | null }, was: boolean): boolean {
  const [isNear, setIsNear] = useState(was)
  useEffect(() => {
    const element = place.current
    if (!element) return
    const see = (entries: readonly IntersectionObserverEntry[]): void => setIsNear(entries.at(-1)?.isIntersecting ?? false)
    const observer = new IntersectionObserver(see, { rootMargin: "600px 0px" })
    observer.observe(element)
    return () => observer.disconnect()
  }, [place])
  return isNear
}
