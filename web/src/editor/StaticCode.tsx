/**
 * Source text that is not edited: coloured by the parsers of the editor, without the editor.
 *
 * All of the text is there at once, for find, print and screen readers. Colours follow once it is near the viewport.
 * Characters that a page would not show are shown by their numbers, so that no two sources look alike.
 */

import { memo, useEffect, useMemo, useRef, useState } from "react"
import type { ClipboardEvent, ReactNode } from "react"
import { invisibleCharacters, shownByNumber } from "../core/visible.ts"
import styles from "./Code.module.css"
import { highlighted, plain } from "./highlight.ts"
import type { Piece } from "./highlight.ts"
import { linesOf } from "./lines.ts"
import { TurnAllowance, whenNear } from "./near_viewport.ts"
import type { LineMark } from "./props.ts"

export type { LineMark } from "./props.ts"

export interface StaticCodeProps {
  readonly source: string
  readonly language: string
  readonly marks?: readonly LineMark[] | undefined
}

const INVISIBLE = invisibleCharacters()
const allowance = new TurnAllowance()

export const StaticCode = memo(function StaticCode({ source, language, marks }: StaticCodeProps) {
  const element = useRef<HTMLPreElement>(null)
  const [isNear, setNear] = useState(() => allowance.take(source.length))
  useEffect(() => {
    if (isNear || !element.current) return undefined
    return whenNear(element.current, () => setNear(true))
  }, [isNear])
  const pieces = useMemo(() => (isNear ? highlighted(source, language) : plain(source)), [isNear, source, language])
  const hasInvisible = source.search(INVISIBLE) >= 0
  return (
    <pre ref={element} className={styles["static"]} onCopy={hasInvisible ? copySource : undefined}>
      <code className={styles["code"]}>
        {marks?.length ? markedLines(pieces, marks, hasInvisible) : rendered(pieces, hasInvisible)}
        {(source === "" || source.endsWith("\n")) && <br />}
      </code>
    </pre>
  )
})

function rendered(pieces: readonly Piece[], hasInvisible: boolean): ReactNode[] {
  return pieces.map(({ text, classes }, index) => {
    const content = hasInvisible ? withNumbers(text) : text
    if (!classes) return content
    return (
      <span key={index} className={classes}>
        {content}
      </span>
    )
  })
}

function markedLines(pieces: readonly Piece[], marks: readonly LineMark[], hasInvisible: boolean): ReactNode[] {
  const lines = linesOf(pieces)
  return lines.map((line, index) => {
    const isMarked = marks.some((mark) => mark.line === index + 1)
    const content = rendered(line, hasInvisible)
    return [
      isMarked ? (
        <mark key={index} className={styles["errorLine"]} aria-description="The error was raised on this line">
          {content}
        </mark>
      ) : (
        content
      ),
      index < lines.length - 1 && "\n",
    ]
  })
}

/** The text with each invisible character as an element that shows its number. */
function withNumbers(text: string): ReactNode {
  const parts: ReactNode[] = []
  let position = 0
  for (const match of text.matchAll(INVISIBLE)) {
    const point = match[0].codePointAt(0) ?? 0
    parts.push(
      text.slice(position, match.index),
      <span key={match.index} className="hl-invisible" data-point={point}>
        {shownByNumber(point)}
      </span>,
    )
    position = match.index + match[0].length
  }
  parts.push(text.slice(position))
  return parts
}

/** Copy the characters of the source, and not the numbers that stand for them. */
function copySource(event: ClipboardEvent): void {
  const selection = document.getSelection()
  if (!selection || selection.rangeCount === 0) return
  const range = selection.getRangeAt(0)
  if (!event.currentTarget.contains(range.commonAncestorContainer)) return
  const copy = range.cloneContents()
  for (const shown of copy.querySelectorAll<HTMLElement>("[data-point]")) {
    shown.replaceWith(String.fromCodePoint(Number(shown.dataset["point"])))
  }
  event.clipboardData.setData("text/plain", copy.textContent)
  event.preventDefault()
}
