/** The form that adds a schedule: which notebook, when, with what, and what file each run leaves. */

import { useEffect, useId, useState } from "react"

import type { JsonObject } from "../core/types.gen.ts"
import { addSchedule } from "../sync/api_schedules.ts"
import type { ScheduleEntry, ScheduleWanted } from "../sync/api_schedules.ts"
import type { OpenParts } from "../sync/open.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { TextArea, TextField } from "../ui/Field.tsx"

export interface NewScheduleDialogProps {
  readonly parts: OpenParts
  readonly onClose: () => void
  readonly onAdded: (entry: ScheduleEntry) => void
}

/** What the form holds. */
export interface ScheduleForm {
  readonly path: string
  readonly name: string
  readonly when: string
  readonly timezone: string
  readonly parameters: string
  readonly output: string
}

/** What is asked of the server. A parameter is a line `name = value`, where a value is JSON, else text. */
export function scheduleWanted({ path, name, when, timezone, parameters, output }: ScheduleForm): ScheduleWanted {
  const stem = path.split("/").at(-1)?.replace(/\.[^.]*$/, "") ?? ""
  return {
    name: name.trim() || stem,
    schedule: when.trim(),
    path: path.trim(),
    timezone: timezone.trim() || "UTC",
    parameters: readParameters(parameters),
    ...(output.trim() ? { output_path: output.trim() } : {}),
  }
}

function readParameters(text: string): JsonObject {
  const lines = text.split("\n").filter((line) => line.includes("="))
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf("=")
      return [line.slice(0, at).trim(), readValue(line.slice(at + 1).trim())]
    }),
  )
}

function readValue(text: string): JsonObject[string] {
  try {
    return JSON.parse(text) as JsonObject[string]
  } catch {
    return text
  }
}

export function NewScheduleDialog({ parts, onClose, onAdded }: NewScheduleDialogProps) {
  const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone
  const [form, setForm] = useState<ScheduleForm>({ path: "", name: "", when: "0 6 * * *", timezone, parameters: "", output: "" })
  const [fault, setFault] = useState<string | null>(null)
  const files = useNotebookFiles(parts)
  const list = useId()
  const change = (part: Partial<ScheduleForm>): void => {
    setFault(null)
    setForm({ ...form, ...part })
  }
  const submit = (): void => {
    addSchedule(parts.api, scheduleWanted(form)).then(onAdded, (error: unknown) => setFault(error instanceof Error ? error.message : String(error)))
  }
  return (
    <Dialog
      isOpen
      title="New schedule"
      onClose={onClose}
      onSubmit={submit}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={!form.path.trim() || !form.when.trim()}>
            Add
          </Button>
        </>
      }
    >
      <TextField label="Notebook" placeholder="notebooks/fleet.py" list={list} value={form.path} data-autofocus onChange={(event) => change({ path: event.target.value })} />
      <datalist id={list}>
        {files.map((path) => (
          <option key={path} value={path} />
        ))}
      </datalist>
      <TextField label="Name" placeholder="as the notebook" value={form.name} onChange={(event) => change({ name: event.target.value })} />
      <TextField
        label="When"
        help="Minute, hour, day, month, day of the week; or: every 15m, in 2 hours, at 2026-12-01T06:00"
        value={form.when}
        error={fault}
        onChange={(event) => change({ when: event.target.value })}
      />
      <TextField label="Time zone" value={form.timezone} onChange={(event) => change({ timezone: event.target.value })} />
      <TextArea
        label="Parameters"
        help="A line for each: run_id = {{date}}"
        value={form.parameters}
        onChange={(event) => change({ parameters: event.target.value })}
      />
      <TextField label="Output" placeholder="runs/fleet_{{date}}.ipynb" value={form.output} onChange={(event) => change({ output: event.target.value })} />
    </Dialog>
  )
}

/** The notebook files of the server's folder, to choose from. */
function useNotebookFiles({ api }: OpenParts): readonly string[] {
  const [files, setFiles] = useState<readonly string[]>([])
  useEffect(() => {
    api.files().then(
      (found) => setFiles(found.map(({ path }) => path)),
      () => undefined, // a path can be typed as well
    )
  }, [api])
  return files
}
