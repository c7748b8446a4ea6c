/** Short messages at the foot of the page, each with at most one thing to do: "Removed 3 cells. Undo". */

import { useEffect, useState, useSyncExternalStore } from "react"

import { Button, IconButton } from "./Button.tsx"
import { Icon } from "./Icon.tsx"
import css from "./Toasts.module.css"

export interface Toast {
  readonly text: string
  readonly action?: { readonly label: string; do(): void } | undefined
  readonly kind?: "plain" | "error" | undefined
}

interface ShownToast extends Toast {
  readonly id: number
}

const SHOWN_MILLISECONDS = 10_000
const MOST = 3

let shown: readonly ShownToast[] = []
let lastId = 0
const listeners = new Set<() => void>()

function set(next: readonly ShownToast[]): void {
  shown = next
  for (const listener of listeners) listener()
}

/** Show a message for ten seconds. Returns what takes it away. */
export function notify(toast: Toast): () => void {
  lastId += 1
  const id = lastId
  set([...shown, { ...toast, id }].slice(-MOST))
  return () => dismiss(id)
}

function dismiss(id: number): void {
  set(shown.filter((toast) => toast.id !== id))
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** What shows a message. */
export function useToasts(): typeof notify {
  return notify
}

/** Put once into the page. */
export function Toasts() {
  const toasts = useSyncExternalStore(subscribe, () => shown)
  return (
    <div className={css["toasts"]} role="status" aria-live="polite" aria-label="Messages">
      {toasts.map((toast) => (
        <OneToast key={toast.id} toast={toast} />
      ))}
    </div>
  )
}

function OneToast({ toast }: { readonly toast: ShownToast }) {
  const [isHeld, hold] = useState(false)
  useEffect(() => {
    if (isHeld) return
    const timer = setTimeout(() => dismiss(toast.id), SHOWN_MILLISECONDS)
    return () => clearTimeout(timer)
  }, [isHeld, toast.id])
  const { action } = toast
  return (
    <div
      className={css["toast"]}
      data-kind={toast.kind}
      onPointerEnter={() => hold(true)}
      onPointerLeave={() => hold(false)}
      onFocus={() => hold(true)}
      onBlur={() => hold(false)}
    >
      {toast.kind === "error" && <Icon name="warning" />}
      <span className={css["text"]}>{toast.text}</span>
      {action && (
        <Button
          kind="quiet"
          onClick={() => {
            dismiss(toast.id)
            action.do()
          }}
        >
          {action.label}
        </Button>
      )}
      <IconButton label="Dismiss" icon={<Icon name="cross" size={12} />} onClick={() => dismiss(toast.id)} />
    </div>
  )
}
