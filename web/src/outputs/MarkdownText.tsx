/** Markdown as it reads: cells of text, and outputs. */

import { memo, useLayoutEffect, useMemo, useRef } from "react"
import type { JsonObject } from "../core/types.gen.ts"
import { harmless } from "../core/visible.ts"
import type { OutputContext } from "./context.ts"
import { isReadable, renderMarkdown } from "./markdown.ts"
import { markdownNodes } from "./markdown_nodes.ts"
import { TerminalText } from "./TerminalText.tsx"
import css from "./MarkdownText.module.css"

interface Props {
  readonly source: string
  readonly attachments?: JsonObject | undefined
  readonly context?: OutputContext
}

const NONE: JsonObject = {}
const CODE = "pre > code[class^='language-']"

export const MarkdownText = memo(function MarkdownText({ source, attachments = NONE }: Props) {
  const place = useRef<HTMLDivElement>(null)
  // Marks that turn text around would show another text than there is.
  const html = useMemo(() => (isReadable(source) ? renderMarkdown(harmless(source), attachments) : null), [source, attachments])
  useLayoutEffect(() => {
    const element = place.current
    if (html === null || !element) return undefined
    element.replaceChildren(markdownNodes(html, attachments))
    const stops = [element.querySelector("code.math") && drawFormulas(element), element.querySelector(CODE) && colourBlocks(element)]
    return () => stops.forEach((stop) => stop?.())
  }, [html, attachments])
  if (html === null) return <TerminalText text={source} />
  return <div ref={place} className={css["prose"]} dir="auto" />
})

/** Formulas are read as they are written until the typesetter is there. */
function drawFormulas(element: HTMLElement): () => void {
  let isCurrent = true
  void import("./math.ts").then(({ drawMath }) => {
    if (!isCurrent) return
    for (const code of element.querySelectorAll<HTMLElement>("code.math")) {
      const block = code.closest<HTMLElement>("pre.math")
      const place = document.createElement(block ? "div" : "span")
      place.className = css[block ? "formula" : "term"] ?? ""
      drawMath(place, code.textContent, block !== null || code.classList.contains("display"))
      ;(block ?? code).replaceWith(place)
    }
  })
  return () => {
    isCurrent = false
  }
}

/** Blocks of code have no colours until the parsers are there. */
function colourBlocks(element: HTMLElement): () => void {
  const stops: (() => void)[] = []
  let isCurrent = true
  void import("../editor/colour_code.ts").then(({ colourCode }) => {
    if (!isCurrent) return
    for (const code of element.querySelectorAll<HTMLElement>(CODE)) stops.push(colourCode(code, /language-(\S+)/.exec(code.className)?.[1] ?? ""))
  })
  return () => {
    isCurrent = false
    for (const stop of stops) stop()
  }
}
