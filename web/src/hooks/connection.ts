/** Whether what this page says about kernels is true now: without the server, it is only what was last heard. */

import type { OpenState } from "../sync/open.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import type { SocketState } from "../sync/socket.ts"
import { useValue } from "./values.ts"

export function useIsConnected({ open, parts }: Pick<PageContext, "open" | "parts">): boolean {
  const socket = useValue(parts.socket.state)
  const hadWelcome = useValue(parts.socket.welcome) !== null
  return isConnected(useValue(open.state), socket, hadWelcome)
}

/** A page that was just opened has the notebook before it has a connection, which counts as connected. */
export function isConnected(open: OpenState, socket: SocketState, hadWelcome: boolean): boolean {
  if (open.kind !== "live") return false
  return socket.kind === "open" || (socket.kind === "connecting" && !hadWelcome)
}
