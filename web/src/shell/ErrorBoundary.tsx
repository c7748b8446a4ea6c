/** What is shown when a page breaks: that nothing typed is lost, how to go on, and what to send to those who can mend it. */

import { Component } from "react"
import type { ErrorInfo, ReactNode } from "react"

import { Button } from "../ui/Button.tsx"
import { notify } from "../ui/Toasts.tsx"
import css from "./shell.module.css"

interface Props {
  readonly children: ReactNode
  /** Another value makes it try again: the address of the page. */
  readonly resetKey: string
}

interface State {
  readonly error: Error | null
  readonly stack: string
  readonly resetKey: string
}

export class ErrorBoundary extends Component<Props, State> {
  override state: State = { error: null, stack: "", resetKey: this.props.resetKey }

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { error: error instanceof Error ? error : new Error(String(error)) }
  }

  static getDerivedStateFromProps(props: Props, state: State): Partial<State> | null {
    return props.resetKey === state.resetKey ? null : { error: null, stack: "", resetKey: props.resetKey }
  }

  override componentDidCatch(_error: unknown, { componentStack }: ErrorInfo): void {
    this.setState({ stack: componentStack ?? "" })
  }

  override render(): ReactNode {
    const { error, stack } = this.state
    if (!error) return this.props.children
    return <Broken error={error} stack={stack} />
  }
}

/** A chunk that is not there any more: the server was updated while this page was open. */
function isMissingChunk({ message }: Error): boolean {
  return /dynamically imported module|module script failed|preload CSS/i.test(message)
}

function Broken({ error, stack }: { readonly error: Error; readonly stack: string }) {
  const details = `${location.pathname}\n${error.stack ?? error.message}\n${stack}`
  const isOutdated = isMissingChunk(error)
  return (
    <main className={css["message"]}>
      <h1>{isOutdated ? "This page could not be loaded" : "This page broke"}</h1>
      <p>
        {isOutdated
          ? "Quire was updated while it was open, or the server does not answer. Load it again."
          : "Load it again. What you typed is kept in this browser and is there again."}
      </p>
      <div className={css["buttons"]}>
        <Button kind="primary" onClick={() => location.reload()}>
          Reload
        </Button>
        <Button
          onClick={() => {
            void navigator.clipboard.writeText(details).then(() => notify({ text: "Copied." }))
          }}
        >
          Copy details
        </Button>
        <a href="/">All notebooks</a>
      </div>
      {!isOutdated && (
        <details>
          <summary>{error.message || "Details"}</summary>
          <pre tabIndex={0}>{details}</pre>
        </details>
      )}
    </main>
  )
}
