/** Schedules over HTTP: shapes and requests. Only the page of schedules loads this. */

import type { ActorId, Json, LogId, RunDelivered, SchedulePlan, SkippedRuns } from "../core/types.gen.ts"
import type { Api } from "./api.ts"
import { address } from "./api_requests.ts"

/** A run of a schedule, in short. */
export interface ScheduleOutcome {
  readonly run: LogId
  readonly due: string
  readonly attempt: number
  readonly status: string
  readonly finished_at: string | null
  readonly seconds: number | null
  readonly asked_by: ActorId | null
}

/** A run of a schedule with what it recorded, and what was delivered. */
export interface ScheduledRun extends ScheduleOutcome {
  readonly number: number
  readonly error: string | null
  readonly output: string | null
  readonly results: Readonly<Record<string, Json>>
  readonly deliveries: readonly RunDelivered[]
}

/** A schedule as it is now. */
export interface ScheduleEntry {
  readonly name: string
  readonly state: "active" | "paused" | "removed"
  readonly plan: SchedulePlan
  readonly by: ActorId
  readonly added_at: string
  readonly next: readonly string[]
  readonly last: readonly ScheduleOutcome[]
  readonly skipped: SkippedRuns | null
  readonly fault: string | null
}

/** What the form of a new schedule sends. */
export interface ScheduleWanted {
  readonly name: string
  readonly schedule: string
  readonly path: string
  readonly timezone: string
  readonly parameters: Readonly<Record<string, Json>>
  readonly output_path?: string
}

export function listSchedules({ requests }: Api): Promise<readonly ScheduleEntry[]> {
  return requests.read(address(["schedules"]))
}

export function scheduleRuns({ requests }: Api, name: string): Promise<readonly ScheduledRun[]> {
  return requests.read(address(["schedules", name, "runs"]))
}

export function addSchedule({ requests }: Api, wanted: ScheduleWanted): Promise<ScheduleEntry> {
  return requests.post(address(["schedules"]), wanted)
}

/** Pause it, let it go on, have it run now, or remove it. */
export async function tellSchedule({ requests }: Api, name: string, act: "pause" | "resume" | "now" | "remove"): Promise<void> {
  await requests.post(address(["schedules", name, act]))
}
