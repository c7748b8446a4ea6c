/** What outputs of a log are given where it is only read. */

import type { LogId } from "../core/types.gen.ts"
import type { OutputContext } from "../outputs/context.ts"
import { hostPermissions } from "../sync/allowed_hosts.ts"
import type { OpenParts } from "../sync/open.ts"

export function readContext(parts: Pick<OpenParts, "api" | "storage">, log: LogId, nonce: string): OutputContext {
  return {
    log,
    nonce,
    blob: (hash) => parts.api.blob(hash),
    hosts: hostPermissions(parts.storage).of(log),
    whole: (execution) => parts.api.execution(log, execution),
  }
}
