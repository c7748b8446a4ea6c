/** What a running cell asks by `input()`: a field for those who may run, a line for the others. */

import { useEffect, useRef, useState } from "react"
import type { SyntheticEvent } from "react"
import type { Execution } from "../core/types.gen.ts"
import { Fault } from "../sync/fault.ts"
import type { Prompt } from "../sync/lanes.ts"
import { Button } from "../ui/Button.tsx"
import styles from "./Cell.module.css"
import type { Page } from "./page.ts"

interface Props {
  readonly page: Page
  readonly execution: Execution
  readonly prompt: Prompt
}

export function CellPrompt({ page, execution, prompt }: Props) {
  const text = prompt.prompt.trim()
  if (!page.mayRun) return <p className={styles["asks"]}>asks: {text || "something"}</p>
  return <AnswerField page={page} execution={execution} prompt={prompt} />
}

function AnswerField({ page, execution, prompt }: Props) {
  const [fault, setFault] = useState<string | null>(null)
  const [isSent, setSent] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const isMine = execution.by === page.open.me.actor
  useEffect(() => {
    // Who types in a cell goes on there: what is typed must not become an answer.
    if (isMine && page.view.mode.get() === "command") field.current?.focus({ preventScroll: true })
  }, [isMine, page])
  const send = (event: SyntheticEvent): void => {
    event.preventDefault()
    setSent(true)
    setFault(null)
    const answer = field.current?.value ?? ""
    page.parts.api.answer(page.log, execution.id, answer, { prompt: prompt.prompt, password: prompt.isPassword }).catch((error: unknown) => {
      setSent(false)
      setFault(error instanceof Fault ? error.message : String(error))
    })
  }
  return (
    <form className={styles["prompt"]} onSubmit={send}>
      <label>
        <span>{prompt.prompt || "Input:"}</span>
        <input
          ref={field}
          type={prompt.isPassword ? "password" : "text"}
          autoComplete="off"
          disabled={isSent}
          onKeyDown={(event) => leaveOnEscape(event.key, page)}
        />
      </label>
      <Button type="submit" disabled={isSent}>
        Send
      </Button>
      {fault !== null && <span role="alert">{fault}</span>}
    </form>
  )
}

function leaveOnEscape(key: string, page: Page): void {
  if (key === "Escape") page.view.press(page.focused() ?? "")
}
