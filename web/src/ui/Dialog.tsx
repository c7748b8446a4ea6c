/** A window over the page: the browser's own, so that focus stays in it and goes back where it was. Esc closes it. */

import { useEffect, useId, useRef } from "react"
import type { ReactNode } from "react"

import { IconButton } from "./Button.tsx"
import css from "./Dialog.module.css"
import { Icon } from "./Icon.tsx"
import { classes } from "./classes.ts"

export interface DialogProps {
  readonly title: string
  readonly isOpen: boolean
  readonly size?: "small" | "wide" | undefined
  readonly children: ReactNode
  /** The buttons. */
  readonly footer?: ReactNode
  readonly onClose: () => void
  /** Makes the dialog a form: what Enter and a button of type "submit" do. */
  readonly onSubmit?: (() => void) | undefined
}

export function Dialog(props: DialogProps) {
  return props.isOpen ? <OpenDialog {...props} /> : null
}

const FIRST = ["[data-autofocus]", "[data-body] :is(input, select, textarea, button)", "footer button"]

function OpenDialog({ title, size = "small", children, footer, onClose, onSubmit }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const dialog = element.current
    if (!dialog || dialog.open) return
    const before = document.activeElement
    dialog.showModal()
    // Where nothing is marked, what is asked or done there: the cross, which comes first, is for the pointer.
    const place = FIRST.map((selector) => dialog.querySelector<HTMLElement>(selector)).find((found) => found !== null)
    place?.focus()
    return () => {
      dialog.close()
      // Taken out of the page before it could give the focus back by itself.
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  const body = (
    <>
      <div className={css["body"]} data-body>
        {children}
      </div>
      {footer && <footer className={css["footer"]}>{footer}</footer>}
    </>
  )
  return (
    <dialog
      ref={element}
      className={classes(css["dialog"], css[size])}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onPointerDown={(event) => {
        if (event.target === element.current && !isInside(event, event.currentTarget)) onClose()
      }}
      onKeyDown={(event) => event.stopPropagation()}
    >
      <header className={css["header"]}>
        <h2 id={id}>{title}</h2>
        <IconButton label="Close" icon={<Icon name="cross" />} onClick={onClose} />
      </header>
      {onSubmit ? (
        <form
          className={css["form"]}
          onSubmit={(event) => {
            event.preventDefault()
            onSubmit()
          }}
        >
          {body}
        </form>
      ) : (
        body
      )}
    </dialog>
  )
}

/** The backdrop is a part of the dialog, but not inside its box. */
function isInside({ clientX, clientY }: { readonly clientX: number; readonly clientY: number }, element: Element): boolean {
  const { left, right, top, bottom } = element.getBoundingClientRect()
  return clientX >= left && clientX <= right && clientY >= top && clientY <= bottom
}
