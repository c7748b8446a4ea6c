/** A text that is there to be copied: a command, a link, a secret. */

import { useRef } from "react"

import { Button } from "./Button.tsx"
import css from "./CopyBox.module.css"
import { Icon } from "./Icon.tsx"
import { notify } from "./Toasts.tsx"

export interface CopyBoxProps {
  readonly text: string
  /** What it is, for screen readers. */
  readonly label: string
  /** Whether it is a secret: tests and extensions find it by that. */
  readonly isSecret?: boolean
  readonly onCopied?: () => void
}

export function CopyBox({ text, label, isSecret = false, onCopied }: CopyBoxProps) {
  const element = useRef<HTMLPreElement>(null)
  const copy = (): void => {
    // Not there on a page without https, but for localhost.
    const clipboard = navigator.clipboard as typeof navigator.clipboard | undefined
    const copied = clipboard ? clipboard.writeText(text) : Promise.reject(new Error("There is no clipboard."))
    copied.then(
      () => {
        notify({ text: "Copied." })
        onCopied?.()
      },
      () => {
        if (element.current) getSelection()?.selectAllChildren(element.current)
        notify({ text: "It is selected: copy it with Ctrl-C." })
      },
    )
  }
  return (
    <div className={css["box"]}>
      <pre ref={element} tabIndex={0} role="group" aria-label={label} data-secret={isSecret ? "" : undefined}>
        {text}
      </pre>
      <Button icon={<Icon name="copy" />} onClick={copy}>
        Copy<span className="visually-hidden"> {label}</span>
      </Button>
    </div>
  )
}
