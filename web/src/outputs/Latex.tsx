/** An output in LaTeX: a formula. Whole documents stay as they are written: a browser cannot typeset them. */

import { memo, useEffect, useRef, useState } from "react"
import { harmless } from "../core/visible.ts"
import { TerminalText } from "./TerminalText.tsx"
import css from "./MarkdownText.module.css"

/** The formula of a LaTeX output without what surrounds it; null of what is more than a formula. */
export function formulaIn(source: string): { readonly tex: string; readonly isDisplayed: boolean } | null {
  const text = source.trim()
  if (/\\documentclass|\\begin\{(?:tabular|table|figure|document|itemize|enumerate|longtable)/.test(text)) return null
  const bare = /^(\$\$?)(?:\\displaystyle\b)?\s*([^]*?)\s*\1$/.exec(text) ?? /^(\\\[|\\\()\s*([^]*?)\s*(?:\\\]|\\\))$/.exec(text)
  if (!bare && !/^\\begin\{/.test(text)) return null
  return { tex: bare?.[2] ?? text, isDisplayed: !bare || bare[1] !== "\\(" }
}

export const Latex = memo(function Latex({ source }: { readonly source: string }) {
  const place = useRef<HTMLDivElement>(null)
  const [isDrawn, setIsDrawn] = useState(false)
  const formula = formulaIn(source)
  const tex = formula?.tex
  useEffect(() => {
    let isCurrent = true
    if (tex === undefined) return
    void import("./math.ts").then(({ drawMath }) => {
      if (!isCurrent || !place.current) return
      drawMath(place.current, tex, true)
      setIsDrawn(true)
    })
    return () => {
      isCurrent = false
    }
  }, [tex])
  if (!formula) return <TerminalText text={source} />
  return (
    <>
      <div ref={place} className={css["latex"]} data-output="latex" />
      {!isDrawn && <TerminalText text={harmless(formula.tex)} />}
    </>
  )
})
