/** The line at the top of every page that says what is wrong between this page and the server; none when all is well. */

import { useEffect, useRef, useState } from "react"

import { REDUCER } from "../core/types.gen.ts"
import { useValue } from "../hooks/values.ts"
import type { Fault } from "../sync/fault.ts"
import type { Socket, SocketState } from "../sync/socket.ts"
import { Bar } from "../ui/Bar.tsx"
import { Button } from "../ui/Button.tsx"

export function ConnectionBar({ socket }: { readonly socket: Socket }) {
  const state = useValue(socket.state)
  const isUpdated = useUpdated(socket)
  const unsaved = useValue(socket.unsaved)
  const retryAt = useRetry(state)
  if (state.kind === "signed_out") return <SignedOut reason={state.reason} />
  if (unsaved) return <Unsaved fault={unsaved} />
  if (retryAt !== null) return <Away until={retryAt} onRetry={() => socket.retry()} />
  if (isUpdated) return <Updated />
  return null
}

/** Until when it waits before it tries again, or 0 while it tries; null if there is a connection, or none was lost yet. */
function useRetry(state: SocketState): number | null {
  const [retry, setRetry] = useState<number | null>(null)
  const [before, setBefore] = useState(state)
  if (before !== state) {
    setBefore(state)
    if (state.kind === "waiting") setRetry(state.until)
    else if (state.kind === "open" || state.kind === "closed") setRetry(null)
    else if (retry !== null) setRetry(0)
  }
  return retry
}

/** Whether the server is of another version than when this page was loaded. */
function useUpdated(socket: Socket): boolean {
  const welcome = useValue(socket.welcome)
  const first = useRef<string | null>(null)
  const [isUpdated, setUpdated] = useState(false)
  useEffect(() => {
    if (!welcome) return
    first.current ??= welcome.version
    if (welcome.version !== first.current || (welcome.reducer ?? REDUCER) !== REDUCER) setUpdated(true)
  }, [welcome])
  return isUpdated
}

function Away({ until, onRetry }: { readonly until: number; readonly onRetry: () => void }) {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500)
    return () => clearInterval(timer)
  }, [])
  const seconds = Math.max(0, Math.ceil((until - now) / 1000))
  return (
    <Bar
      kind="warning"
      actions={
        <Button kind="quiet" onClick={onRetry}>
          Try now
        </Button>
      }
    >
      The server does not answer. <span aria-hidden="true">{seconds > 0 ? `Again in ${seconds} s. ` : "Trying… "}</span>
      What you typed is kept.
    </Bar>
  )
}

/** How what is said of a database begins (stores/postgres/server_connection.py). */
const DATABASE = /^(postgresql:|The PostgreSQL server)/

/** The server answers, and cannot record anything: what is done waits, and is sent again and again. */
function Unsaved({ fault: { message } }: { readonly fault: Fault }) {
  const isFull = message.includes("disk is full")
  const why = isFull ? "the disk of the server is full" : DATABASE.test(message) ? "the database of the server is not available" : null
  return (
    <Bar kind="warning">
      Nothing can be saved right now{why === null ? `. ${message}` : `: ${why}.`} What you do is kept in this browser and is sent when{" "}
      {isFull ? "there is room" : "it is back"}.
    </Bar>
  )
}

function SignedOut({ reason }: { readonly reason: string }) {
  return (
    <Bar kind="error">
      Signed out{reason ? `: ${reason.replace(/\.$/, "")}` : ""}. Type <code>quire open</code> in a terminal to sign in again. What you typed is kept
      in this browser.
    </Bar>
  )
}

function Updated() {
  return (
    <Bar
      kind="info"
      actions={
        <Button kind="plain" onClick={() => location.reload()}>
          Reload
        </Button>
      }
    >
      Quire was updated. Reload to go on; what you typed is kept.
    </Bar>
  )
}
