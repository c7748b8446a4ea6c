/** Text in a terminal's colours, in its place. */

import { memo, useLayoutEffect, useRef } from "react"
import type { Look } from "./ansi.ts"
import { PLAIN } from "./ansi.ts"
import { terminalNodes } from "./terminal_text.ts"
import css from "./TerminalText.module.css"

interface Props {
  readonly text: string
  readonly look?: Look
  readonly className?: string | undefined
  /** Names it for those who do not see it. */
  readonly label?: string | undefined
}

export const TerminalText = memo(function TerminalText({ text, look = PLAIN, className, label }: Props) {
  const place = useRef<HTMLPreElement>(null)
  useLayoutEffect(() => {
    place.current?.replaceChildren(terminalNodes(text.replace(/\n$/, ""), look)[0])
  }, [text, look])
  return <pre ref={place} className={`${css["text"] ?? ""} ${className ?? ""}`} role={label ? "group" : undefined} aria-label={label} />
})
