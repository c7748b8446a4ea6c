/**
 * Tips: one element for the page, which shows the `data-tip` (and `data-keys`) of what the pointer or the focus is on.
 *
 * One for all, because a notebook of a thousand cells has thousands of buttons. It is for the eye: what a tip says is the
 * element's label already. Esc hides it; the pointer may go onto it.
 */

import { useEffect, useRef, useState } from "react"
import type { ReactNode } from "react"

import { Kbd } from "./Kbd.tsx"
import css from "./Tooltip.module.css"

const SHOW_MILLISECONDS = 450
/** After one was shown, the next comes at once for this long. */
const WARM_MILLISECONDS = 400
const GAP = 6

interface Tip {
  readonly target: Element
  readonly text: string
  readonly keys: string | undefined
}

/** Put once into the page. */
export function Tooltips() {
  const [tip, setTip] = useState<Tip | null>(null)
  const element = useRef<HTMLDivElement>(null)

  useEffect(() => watchTips(setTip, element), [])

  useEffect(() => {
    const box = element.current
    if (!box || !tip) return
    box.showPopover()
    place(box, tip.target)
    return () => {
      if (box.isConnected) box.hidePopover()
    }
  }, [tip])

  return (
    <div ref={element} className={css["tip"]} popover="manual" aria-hidden="true">
      {tip?.text}
      {tip?.keys && <Kbd keys={tip.keys} />}
    </div>
  )
}

/** Give what has no label of its own a tip. */
export function Tooltip({ text, keys, children }: { readonly text: string; readonly keys?: string; readonly children: ReactNode }) {
  return (
    <span data-tip={text} data-keys={keys}>
      {children}
    </span>
  )
}

function watchTips(show: (tip: Tip | null) => void, box: { readonly current: HTMLElement | null }): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let shown: Element | null = null
  let hiddenAt = 0

  const set = (target: Element | null): void => {
    clearTimeout(timer)
    if (shown && !target) hiddenAt = Date.now()
    shown = target
    const text = target?.getAttribute("data-tip")
    show(target && text ? { target, text, keys: target.getAttribute("data-keys") ?? undefined } : null)
  }
  const over = ({ target, pointerType }: PointerEvent): void => {
    if (!(target instanceof Element) || pointerType === "touch" || box.current?.contains(target)) return
    const next = target.closest("[data-tip]")
    if (next === shown) return
    clearTimeout(timer)
    if (!next) return void set(null)
    const isWarm = shown !== null || Date.now() - hiddenAt < WARM_MILLISECONDS
    if (isWarm) set(next)
    else timer = setTimeout(() => set(next), SHOW_MILLISECONDS)
  }
  const focus = ({ target }: FocusEvent): void => {
    if (target instanceof Element && target.matches("[data-tip]:focus-visible")) set(target)
  }
  const hide = (): void => set(null)
  const key = (event: KeyboardEvent): void => {
    if (shown) set(null)
    else if (event.key === "Escape") clearTimeout(timer)
  }
  document.addEventListener("pointerover", over)
  document.addEventListener("focusin", focus)
  document.addEventListener("focusout", hide)
  document.addEventListener("pointerdown", hide)
  document.addEventListener("keydown", key, true)
  document.addEventListener("scroll", hide, true)
  return () => {
    clearTimeout(timer)
    document.removeEventListener("pointerover", over)
    document.removeEventListener("focusin", focus)
    document.removeEventListener("focusout", hide)
    document.removeEventListener("pointerdown", hide)
    document.removeEventListener("keydown", key, true)
    document.removeEventListener("scroll", hide, true)
  }
}

function place(box: HTMLElement, target: Element): void {
  const at = target.getBoundingClientRect()
  const { width, height } = box.getBoundingClientRect()
  const left = Math.min(Math.max(GAP, at.left + at.width / 2 - width / 2), innerWidth - width - GAP)
  const below = at.bottom + GAP
  box.style.left = `${left}px`
  box.style.top = `${below + height > innerHeight ? at.top - height - GAP : below}px`
}
