/** The lines above every page. How high they are is `--bars`: headers stick below them. */

import { useEffect, useRef } from "react"
import type { ReactNode } from "react"

import css from "./shell.module.css"

export function Bars({ children }: { readonly children: ReactNode }) {
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const bars = element.current
    if (!bars) return
    const root = document.documentElement
    const observer = new ResizeObserver(() => root.style.setProperty("--bars", `${bars.offsetHeight}px`))
    observer.observe(bars)
    return () => {
      observer.disconnect()
      root.style.removeProperty("--bars")
    }
  }, [])
  return (
    <div ref={element} className={css["bars"]}>
      {children}
    </div>
  )
}
