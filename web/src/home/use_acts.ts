/** What can be done to notebooks from home. Each act tells what came of it. */

import { useMemo } from "react"
import { useLocation } from "wouter"

import type { NotebookSummary } from "../sync/api_types.ts"
import { Fault } from "../sync/fault.ts"
import type { OpenParts } from "../sync/open.ts"
import { notify } from "../ui/Toasts.tsx"
import type { HomeDialog } from "./HomeDialogs.tsx"
import { freeName, isNotebookFile, nameOfFile } from "./overview.ts"

export interface Acts {
  readonly create: () => void
  readonly open: (log: string) => void
  readonly showRuns: (log: string) => void
  readonly openFile: (path: string) => void
  /** Take files in that were dropped or chosen; one whose name is taken is asked about first. */
  readonly takeIn: (files: readonly File[]) => void
  readonly takeInAs: (file: File, name: string) => void
  readonly rename: (notebook: NotebookSummary, name: string) => void
  readonly duplicate: (notebook: NotebookSummary) => void
  readonly archive: (notebook: NotebookSummary, isArchived: boolean) => void
}

export interface ActsParts {
  readonly parts: OpenParts
  readonly notebooks: readonly NotebookSummary[]
  readonly reload: () => void
  readonly setDialog: (dialog: HomeDialog | null) => void
}

/** Why an act failed, for people. */
export function faultText(error: unknown): string {
  return error instanceof Fault || error instanceof Error ? error.message : String(error)
}

export function useActs({ parts, notebooks, reload, setDialog }: ActsParts): Acts {
  const [, navigate] = useLocation()
  return useMemo(() => {
    const { api } = parts
    const names = notebooks.map(({ name }) => name)
    const open = (log: string): void => navigate(`/notebooks/${encodeURIComponent(log)}`)
    const doing = (act: Promise<unknown>): void => {
      act.then(reload, (error: unknown) => notify({ text: faultText(error), kind: "error" }))
    }
    const takeInAs = (file: File, name: string): void => {
      const taken = takeIn(api, file, name).then(
        (log) => notify({ text: `Took in ${file.name} as ${name}.`, action: { label: "Open", do: () => open(log) } }),
        (error: unknown) => {
          if (!(error instanceof Fault && error.kind === "Conflict")) throw error
          setDialog({ kind: "taken", file, name: freeName(name, [...names, name]) })
        },
      )
      doing(taken)
    }
    const archive = (notebook: NotebookSummary, isArchived: boolean): void => {
      doing(
        api.archive(notebook.log, isArchived).then(() =>
          notify({
            text: `${isArchived ? "Archived" : "Restored"} ${notebook.name}.`,
            action: { label: "Undo", do: () => archive(notebook, !isArchived) },
          }),
        ),
      )
    }
    return {
      create: () => doing(api.createNotebook(freeName("Untitled", names), { cells: [{ kind: "code", source: "" }] }).then(({ log }) => open(log))),
      open,
      showRuns: (log) => navigate(`/runs?notebook=${encodeURIComponent(log)}`),
      openFile: (path) => doing(api.openFile(path).then(({ log }) => open(log))),
      takeIn: (files) => {
        const others = files.filter(({ name }) => !isNotebookFile(name))
        if (others[0]) notify({ text: `${others[0].name} is no notebook. Open a notebook and drop it there: it lands beside it.` })
        for (const file of files.filter(({ name }) => isNotebookFile(name))) {
          const name = nameOfFile(file.name)
          if (names.includes(name)) setDialog({ kind: "taken", file, name: freeName(name, names) })
          else takeInAs(file, name)
        }
      },
      takeInAs,
      rename: (notebook, name) => doing(api.rename(notebook.log, name)),
      duplicate: (notebook) => {
        const name = freeName(`${notebook.name} copy`, names)
        doing(
          api
            .duplicate(notebook.log, name)
            .then(({ log }) => notify({ text: `Made ${name}.`, action: { label: "Open", do: () => open(log) } })),
        )
      },
      archive,
    }
  }, [parts, notebooks, reload, setDialog, navigate])
}

/** Put the file into the folder and bind a notebook to it; who may not do that, or where files are left alone, gets the notebook alone. */
async function takeIn(api: OpenParts["api"], file: File, name: string): Promise<string> {
  const path = `${name}${file.name.slice(file.name.lastIndexOf("."))}`
  try {
    return (await api.importNotebook(path, file, { bind: true })).log
  } catch (error) {
    if (!(error instanceof Fault) || error.kind === "Conflict" || error.kind === "BadInput") throw error
    return (await api.importNotebook(path, file)).log
  }
}
