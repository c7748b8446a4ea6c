/** Who may start runs of a notebook. */

import type { LogId } from "../core/types.gen.ts"
import type { Api } from "./api.ts"
import { address } from "./api_requests.ts"

export interface RunPolicy {
  /** Whether everybody who may read the notebook may start runs of it with other parameters. */
  readonly viewers_may_run: boolean
  /** Whether this person may start one. */
  readonly may_run: boolean
  /** Whether this person decides it. */
  readonly may_change: boolean
}

export function readRunPolicy(api: Api, notebook: LogId): Promise<RunPolicy> {
  return api.requests.read(address(["notebooks", notebook, "run-policy"]))
}

export function setRunPolicy(api: Api, notebook: LogId, viewersMayRun: boolean): Promise<RunPolicy> {
  return api.requests.post(address(["notebooks", notebook, "run-policy"]), { viewers_may_run: viewersMayRun })
}
