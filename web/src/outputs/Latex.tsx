/** An output in LaTeX: a formula is typeset. All else stays as it is written, and is said to be: a browser cannot typeset documents. */

import { memo, useEffect, useRef, useState } from "react"
import { Notice } from "./Actions.tsx"
import { formulaIn } from "./latex_formula.ts"
import { TerminalText } from "./TerminalText.tsx"
import css from "./MarkdownText.module.css"

type Drawn = { readonly source: string; readonly isRead: boolean }

export const Latex = memo(function Latex({ source }: { readonly source: string }) {
  const place = useRef<HTMLDivElement>(null)
  const [last, setLast] = useState<Drawn | null>(null)
  const formula = formulaIn(source)
  useEffect(() => {
    let isCurrent = true
    const wanted = formulaIn(source)
    if (!wanted) return
    void import("./math.ts").then(({ drawMath }) => {
      if (isCurrent && place.current) setLast({ source, isRead: drawMath(place.current, wanted.tex, wanted.isDisplayed) })
    })
    return () => {
      isCurrent = false
    }
  }, [source])
  const drawn = last?.source === source ? last : null
  const isFormula = formula !== null && drawn?.isRead !== false
  return (
    <>
      {isFormula && <div ref={place} className={css["latex"]} data-output="latex" hidden={!drawn} />}
      {!(isFormula && drawn) && <TerminalText text={source} />}
      {!isFormula && <Notice text="LaTeX source: only formulas are typeset here." />}
    </>
  )
})
