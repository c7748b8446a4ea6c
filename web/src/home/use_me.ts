/** Who this browser is signed in as. */

import { useEffect, useState } from "react"

import type { Me } from "../sync/frames.ts"
import type { OpenParts } from "../sync/open.ts"

export function useMe({ socket }: OpenParts): Me | null {
  const [me, setMe] = useState<Me | null>(() => socket.welcome.get()?.me ?? null)
  useEffect(() => {
    const take = (): void => setMe(socket.welcome.get()?.me ?? null)
    take()
    return socket.welcome.subscribe(take)
  }, [socket])
  return me
}
